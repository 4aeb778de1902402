// SPDX-License-Identifier: Apache-2.0
// Any run of frames is the same run of the file read whole.
#include "sonde/instruments/ptycho/read/stack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/npy.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

constexpr Index lines = 4, columns = 3, frames = lines * columns, pixels = 2 * 5;

/// Every pixel of every frame is another number.
Array counted(const Shape& shape) {
  std::vector<std::uint16_t> values(static_cast<std::size_t>(frames * pixels));
  std::iota(values.begin(), values.end(), std::uint16_t{7});
  return Array::from(values, shape);
}

void expect_runs_of(const Array& whole, const ReadFrames& read) {
  ASSERT_TRUE(read);
  const auto* all = static_cast<const std::uint16_t*>(whole.data());
  for (Index first = 0; first < frames; ++first)
    for (Index count = 1; first + count <= frames; ++count) {
      SCOPED_TRACE(::testing::Message() << count << " from " << first);
      const Array run = read(first, count);
      ASSERT_EQ(run.shape(), (Shape{count, 2, 5}));
      EXPECT_EQ(std::memcmp(run.data(), all + first * pixels, run.allocated_bytes()), 0);
    }
}

class Stack : public ::testing::Test {
 protected:
  std::shared_ptr<const Hdf5Dataset> stored(const Array& whole, const Shape& chunk) {
    const std::string path = folder_.file("stack.h5");
    Hdf5Writer writer(path);
    writer.declare("/data", {.shape = whole.shape(), .dtype = DType::u16, .chunk = chunk, .filters = {}, .fill = {}});
    writer.write_box("/data", whole.shape().rank() == 4 ? Shape{0, 0, 0, 0} : Shape{0, 0, 0}, whole);
    writer.finish();
    return std::make_shared<const Hdf5Dataset>(Hdf5File::open(path).dataset("/data"));
  }
  ::sonde::testing::TemporaryFolder folder_;
};

TEST_F(Stack, OfFramesIsReadInRuns) {
  const Array whole = counted(Shape{frames, 2, 5});
  expect_runs_of(whole, frames_of(stored(whole, Shape{5, 2, 2})));
}

TEST_F(Stack, OfARasterIsReadInRunsThatEndInsideOfLines) {
  const Array whole = counted(Shape{lines, columns, 2, 5});
  expect_runs_of(whole, frames_of(stored(whole, Shape{})));
}

TEST_F(Stack, SaysHowManyFramesAreUnpackedTogether) {
  const Array raster = counted(Shape{lines, columns, 2, 5}), list = counted(Shape{frames, 2, 5});
  EXPECT_EQ(frames_together(stored(list, Shape{})->info()), 1);
  EXPECT_EQ(frames_together(stored(list, Shape{5, 2, 2})->info()), 5);
  EXPECT_EQ(frames_together(stored(raster, Shape{2, 1, 2, 5})->info()), 2 * columns);
}

TEST_F(Stack, OfAnNpyFileIsReadInRuns) {
  const Array whole = counted(Shape{lines, columns, 2, 5});
  write_npy(folder_.file("stack.npy"), whole);
  const NpyStack stack = npy_stack(folder_.file("stack.npy"));
  EXPECT_EQ(stack.shape, whole.shape());
  EXPECT_EQ(stack.dtype, DType::u16);
  expect_runs_of(whole, stack.read_frames);
}

}  // namespace
}  // namespace sonde::ptycho
