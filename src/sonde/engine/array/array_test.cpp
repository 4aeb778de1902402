// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/array/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
class ArrayOnEach : public testing::EachDevice {};

TEST(Shape, CountsAndPrints) {
  const Shape shape = {512, 512, 192, 192};
  EXPECT_EQ(shape.count(), 9663676416);  // beyond 2^32
  EXPECT_EQ(shape.text(), "(512, 512, 192, 192)");
  EXPECT_EQ(shape.last(2), (Shape{192, 192}));
  EXPECT_EQ(shape.first(2), (Shape{512, 512}));
}

TEST(Shape, OverflowIsAnError) {
  const Shape shape = {Index{1} << 40, Index{1} << 40};
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { (void)shape.count(); }), HasSubstr("more than 2^63"));
}

TEST(Shape, WithoutElementsMayHaveAnyOtherExtents) {
  const Shape shape = {0, Index{1} << 40, Index{1} << 40};
  EXPECT_EQ(shape.count(), 0);
  EXPECT_EQ(Array(Device::cpu(), shape, DType::f64).allocated_bytes(), 0u);
}

TEST(Shape, BytesBeyond63BitsAreAnError) {
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { Array(Device::cpu(), Shape{Index{1} << 61}, DType::f64); }),
              HasSubstr("shape (2305843009213693952,) of f64 takes more than 2^63 bytes"));
}

TEST(View, IndexesThroughStrides) {
  std::vector<int> elements = {0, 1, 2, 3, 4, 5};
  const View<int, 2> view(elements.data(), 2, 3);
  EXPECT_EQ(view(1, 2), 5);
  EXPECT_EQ(view[1][0], 3);
  EXPECT_TRUE(view.contiguous());
  View<const int, 2> columns = view;
  columns.extent[1] = 2;
  EXPECT_EQ(columns(1, 1), 4);
  EXPECT_FALSE(columns.contiguous());
}

TEST(Array, ViewOfAnotherTypeNamesBoth) {
  const Array array(Device::cpu(), {2, 3}, DType::u16);
  const std::string text = testing::error_of(ErrorKind::internal, [&] { (void)array.view<float, 2>(); });
  EXPECT_THAT(text, HasSubstr("f32"));
  EXPECT_THAT(text, HasSubstr("u16"));
}

TEST(Array, PitchedRowsAreAligned) {
  Array array = Array::pitched(Device::cpu(), {3, 5}, DType::u16, 64);
  EXPECT_EQ(array.stride(0), 32);
  EXPECT_EQ((array.shape()), (Shape{3, 5}));
  EXPECT_FALSE(array.contiguous());
  for (Index row = 0; row < 3; ++row)
    for (Index col = 0; col < 5; ++col)
      array.view<std::uint16_t, 2>()(row, col) = static_cast<std::uint16_t>(10 * row + col);
  const Array dense = array.clone();
  EXPECT_TRUE(dense.contiguous());
  EXPECT_EQ((dense.view<std::uint16_t, 2>()(2, 4)), 24);
}

TEST(Array, BorrowedMemoryIsHandedBackOnce) {
  int released = 0;
  std::vector<float> elements(6);
  {
    Array array = Array::borrowed(elements.data(), {2, 3}, {3, 1}, DType::f32, [&] { ++released; });
    Array moved = std::move(array);
    EXPECT_EQ(moved.data(), elements.data());
  }
  EXPECT_EQ(released, 1);
}

TEST_P(ArrayOnEach, CopiesThereAndBack) {
  Stream stream(device());
  const Array host = Array::from<std::uint32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Array there = host.copy_to(device(), stream);
  const Array back = there.copy_to(Device::cpu(), stream);
  EXPECT_EQ((back.view<std::uint32_t, 2>()(1, 2)), 6u);
}

TEST_P(ArrayOnEach, ZerosAreZero) {
  Stream stream(device());
  const Array back = Array::zeros(device(), {1000}, DType::u64).copy_to(Device::cpu(), stream);
  for (Index i = 0; i < 1000; ++i) EXPECT_EQ((back.view<std::uint64_t, 1>()(i)), 0u);
}

TEST(DType, NarrowestHoldsTheValue) {
  EXPECT_EQ(narrowest_unsigned(255), DType::u8);
  EXPECT_EQ(narrowest_unsigned(256), DType::u16);
  EXPECT_EQ(narrowest_unsigned(65536), DType::u32);
  EXPECT_EQ(narrowest_unsigned(std::uint64_t{1} << 32), DType::u64);
}

TEST(DType, UnknownNamesListTheKnownOnes) {
  EXPECT_EQ(parse_dtype("uint16"), DType::u16);
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [] { (void)parse_dtype("half"); }), HasSubstr("u8, u16, u32"));
}

INSTANTIATE_EACH_DEVICE(ArrayOnEach);

}  // namespace
}  // namespace sonde
