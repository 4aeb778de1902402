// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/layout/transpose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/layout/transpose_kernels.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;
class TransposeOnEach : public sonde::testing::EachDevice {};

/// Values that fit Out; floats are whole numbers so that equality is exact.
template <class In, class Out>
std::vector<In> random_elements(Index count, unsigned seed) {
  std::mt19937_64 random(seed);
  const double largest = std::is_floating_point_v<Out> ? 1e6 : static_cast<double>(std::numeric_limits<Out>::max());
  std::uniform_real_distribution<double> uniform(0, largest + 1);
  std::vector<In> elements(static_cast<std::size_t>(count));
  for (In& element : elements) element = static_cast<In>(std::min(largest, std::floor(uniform(random))));
  if (count > 0) elements.back() = static_cast<In>(largest);
  return elements;
}

/// Every kernel, against the definition.
template <class In, class Out>
void expect_transposed(Index rows, Index cols, Index first_col, Index out_cols) {
  const std::vector<In> in = random_elements<In, Out>(rows * cols, 1);
  const View<const In, 2> view(in.data(), rows, cols);
  for (const TransposeKernels* kernels : usable_transpose_kernels()) {
    SCOPED_TRACE(kernels->name);
    Array out = Array::pitched(Device::cpu(), {cols, out_cols}, dtype_of<Out>, 64);
    const auto all = out.view<Out, 2>();
    for (Index col = 0; col < cols; ++col)
      for (Index row = 0; row < out_cols; ++row) all(col, row) = 3;
    place_rows(*kernels, view, all, first_col);
    for (Index col = 0; col < cols; ++col)
      for (Index row = 0; row < out_cols; ++row) {
        const bool placed = row >= first_col && row < first_col + rows;
        const Out expected = placed ? static_cast<Out>(view(row - first_col, col)) : static_cast<Out>(3);
        ASSERT_EQ(all(col, row), expected) << "column " << col << ", row " << row;
      }
  }
}

struct Case {
  Index rows, cols, first_col, out_cols;
};
const Case cases[] = {
    {64, 64, 0, 64},     // one tile
    {64, 192, 64, 256},  // aligned lines inside a larger array
    {64, 130, 0, 64},    // columns left over
    {50, 64, 0, 64},     // rows left over
    {64, 64, 5, 100},    // lines that are not aligned
    {129, 65, 3, 140},   // everything odd
    {1, 1, 0, 1},       {0, 7, 0, 9}, {3, 200, 0, 3},
};

template <class In, class Out>
void expect_all_cases() {
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << c.rows << " x " << c.cols << " at " << c.first_col);
    expect_transposed<In, Out>(c.rows, c.cols, c.first_col, c.out_cols);
  }
}

TEST(PlaceFrames, TransposesBytes) { expect_all_cases<std::uint8_t, std::uint8_t>(); }
TEST(PlaceFrames, TransposesU16) { expect_all_cases<std::uint16_t, std::uint16_t>(); }
TEST(PlaceFrames, TransposesU32) { expect_all_cases<std::uint32_t, std::uint32_t>(); }
TEST(PlaceFrames, TransposesFloats) { expect_all_cases<float, float>(); }
TEST(PlaceFrames, NarrowsU16ToU8) { expect_all_cases<std::uint16_t, std::uint8_t>(); }
TEST(PlaceFrames, NarrowsU32ToU8) { expect_all_cases<std::uint32_t, std::uint8_t>(); }
TEST(PlaceFrames, NarrowsU32ToU16) { expect_all_cases<std::uint32_t, std::uint16_t>(); }

TEST(PlaceFrames, ReadsFramesWithGapsBetweenThem) {
  const std::vector<std::uint8_t> in = random_elements<std::uint8_t, std::uint8_t>(64 * 100, 2);
  View<const std::uint8_t, 2> view(in.data(), 64, 70);
  view.stride[0] = 100;
  Array planes = make_planes(Device::cpu(), 64, 7, 10, DType::u8);
  place_frames(view, planes.view<std::uint8_t, 2>(), 0);
  for (Index pixel = 0; pixel < 70; ++pixel)
    for (Index frame = 0; frame < 64; ++frame)
      ASSERT_EQ((planes.view<std::uint8_t, 2>()(pixel, frame)), view(frame, pixel));
}

TEST(PlaceFrames, WorkersFillDisjointPositionsTogether) {
  const Index positions = 1000, pixels = 77;
  const std::vector<std::uint16_t> in = random_elements<std::uint16_t, std::uint8_t>(positions * pixels, 3);
  const View<const std::uint16_t, 2> frames(in.data(), positions, pixels);
  Array planes = make_planes(Device::cpu(), positions, 7, 11, DType::u8);
  const auto out = planes.view<std::uint8_t, 2>();
  parallel_for(positions, 64, [&](Index first, Index last, Worker&) {
    View<const std::uint16_t, 2> block = frames;
    block.data += first * pixels;
    block.extent[0] = last - first;
    place_frames(block, out, first);
  });
  for (Index pixel = 0; pixel < pixels; ++pixel)
    for (Index position = 0; position < positions; ++position) ASSERT_EQ(out(pixel, position), frames(position, pixel));
}

TEST_P(TransposeOnEach, ThereAndBackIsTheSame) {
  Stream stream(device());
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{7, 5, 6}, Shape{130, 16, 12}, Shape{0, 5, 6}, Shape{64, 8, 8}}) {
    SCOPED_TRACE(shape.text());
    const std::vector<std::uint16_t> elements = random_elements<std::uint16_t, std::uint16_t>(shape.count(), 4);
    const Array frames = Array::from(elements, shape).copy_to(device(), stream);
    Array planes = make_planes(device(), shape[0], shape[1], shape[2], DType::u16);
    to_pixel_major(stream, frames, planes);
    Array back = make_frames(device(), shape[0], shape[1], shape[2], DType::u16);
    to_frame_major(stream, planes, back);
    const Array host = back.copy_to(Device::cpu(), stream);
    const auto* first = static_cast<const std::uint16_t*>(host.data());
    EXPECT_TRUE(std::equal(elements.begin(), elements.end(), first));
  }
}

TEST_P(TransposeOnEach, PlaneHoldsOnePixelOfEveryFrame) {
  Stream stream(device());
  const std::vector<std::uint32_t> elements = random_elements<std::uint32_t, std::uint8_t>(100 * 5 * 6, 5);
  const View<const std::uint32_t, 3> frames(elements.data(), 100, 5, 6);
  Array planes = make_planes(device(), 100, 5, 6, DType::u8);
  to_pixel_major(stream, Array::from(elements, {100, 5, 6}).copy_to(device(), stream), planes);
  // From plane to plane there is a gap: all bytes come to the host.
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(29 * planes.stride(0) + 100));
  stream.copy(bytes.data(), planes.data(), bytes.size());
  stream.synchronise();
  for (Index position = 0; position < 100; ++position)
    for (Index row = 0; row < 5; ++row)
      for (Index col = 0; col < 6; ++col)
        ASSERT_EQ(bytes[static_cast<std::size_t>((row * 6 + col) * planes.stride(0) + position)],
                  frames(position, row, col));
}

TEST(ToPixelMajor, TakesStridedFrames) {
  Stream stream;
  std::vector<std::uint16_t> elements = random_elements<std::uint16_t, std::uint16_t>(9 * 8 * 10, 6);
  // Every second row and the first seven columns of 8 x 10 frames.
  const Array frames = Array::borrowed(elements.data(), {9, 4, 7}, {80, 20, 1}, DType::u16, nullptr);
  Array planes = make_planes(Device::cpu(), 9, 4, 7, DType::u16);
  to_pixel_major(stream, frames, planes);
  for (Index position = 0; position < 9; ++position)
    for (Index row = 0; row < 4; ++row)
      for (Index col = 0; col < 7; ++col)
        ASSERT_EQ((planes.view<std::uint16_t, 2>()(row * 7 + col, position)),
                  elements[static_cast<std::size_t>(position * 80 + row * 20 + col)]);
}

TEST(ToPixelMajor, ShapesThatDoNotBelongTogetherAreAnError) {
  Stream stream;
  const Array frames = make_frames(Device::cpu(), 4, 5, 6, DType::u8);
  Array planes = make_planes(Device::cpu(), 5, 5, 6, DType::u8);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { to_pixel_major(stream, frames, planes); }),
              HasSubstr("frames of shape (4, 5, 6) and planes of shape (30, 5) do not belong together"));
}

TEST(ToPixelMajor, WideningIsNotOffered) {
  Stream stream;
  const Array frames = make_frames(Device::cpu(), 4, 5, 6, DType::u8);
  Array planes = make_planes(Device::cpu(), 4, 5, 6, DType::u16);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { to_pixel_major(stream, frames, planes); }),
              HasSubstr("u8 elements cannot be laid out as u16"));
}

TEST(ToFrameMajor, DoesNotConvert) {
  Stream stream;
  Array frames = make_frames(Device::cpu(), 4, 5, 6, DType::u16);
  const Array planes = make_planes(Device::cpu(), 4, 5, 6, DType::u8);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { to_frame_major(stream, planes, frames); }),
              HasSubstr("planes of u8 and frames of u16; the way back does not convert"));
}

INSTANTIATE_EACH_DEVICE(TransposeOnEach);

}  // namespace
}  // namespace sonde::stem
