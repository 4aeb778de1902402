// SPDX-License-Identifier: Apache-2.0
// More than 2^32 elements: indices must be 64 bits wide from the file to the image.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

// 512 x 513 positions of 128 x 130 pixels: 4.37e9 elements, 0.7e9 beyond 2^32 - 2^29.
constexpr Index scan_rows = 512, scan_cols = 513, rows = 128, cols = 130, pixels = rows * cols;
constexpr Index elements = scan_rows * scan_cols * pixels;
static_assert(elements > Index{1} << 32);

struct Count {
  Index element;
  std::uint8_t value;
};
// At both ends, around 2^31 and around 2^32.
constexpr Count counts[] = {{0, 1},
                            {pixels - 1, 2},
                            {(Index{1} << 31) - 1, 3},
                            {Index{1} << 31, 4},
                            {(Index{1} << 32) - 1, 5},
                            {Index{1} << 32, 6},
                            {elements - pixels, 7},
                            {elements - 1, 8}};

/// A sparse file: zeros that take no space, and the counts above.
class LargeScan : public ::testing::Test {
 protected:
  LargeScan() {
    std::ofstream(path()).put(0);
    std::filesystem::resize_file(path(), static_cast<std::uintmax_t>(elements));
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    for (const Count& count : counts) {
      file.seekp(count.element);
      file.put(static_cast<char>(count.value));
    }
  }
  [[nodiscard]] std::string path() const { return folder_.file("large.raw"); }

  void expect_right(LayoutChoice layout) {
    LoadOptions options;
    options.raw_shape = "512,513,128,130";
    options.raw_dtype = "u1";
    options.layout = layout;
    options.hot_pixels = BadPixelAction::none;
    const Budget budget = Budget::automatic(Device::cpu());
    const std::size_t need =
        preview_load(path(), options, Budget(std::size_t{1} << 40, "to ask")).estimate.predicted_peak_bytes;
    if (need > budget.available_bytes())  // the layouts before were tested
      GTEST_SKIP() << "not enough memory: needs " << (need >> 20) << " MiB, may use "
                   << (budget.available_bytes() >> 20);
    Dataset dataset = load(path(), options, budget);
    ASSERT_EQ(dataset.shape(), (Shape{scan_rows, scan_cols, rows, cols}));
    ASSERT_EQ(dataset.dtype(), DType::u8);

    std::vector<Index> all(static_cast<std::size_t>(pixels));
    for (Index q = 0; q < pixels; ++q) all[static_cast<std::size_t>(q)] = q;
    const std::vector<Mask> masks = {make_mask(rows, cols, all), make_mask(rows, cols, {0}),
                                     make_mask(rows, cols, {pixels - 1})};
    const std::vector<DetectorImage> images = mask_images(dataset, masks);
    std::vector<std::uint64_t> expected(static_cast<std::size_t>(scan_rows * scan_cols)), first = expected,
                                                                                          last = expected;
    for (const Count& count : counts) {
      const auto position = static_cast<std::size_t>(count.element / pixels);
      const Index pixel = count.element % pixels;
      expected[position] += count.value;
      if (pixel == 0) first[position] += count.value;
      if (pixel == pixels - 1) last[position] += count.value;
      const Array pattern = dataset.pattern(count.element / pixels / scan_cols, count.element / pixels % scan_cols);
      EXPECT_EQ((pattern.view<std::uint8_t, 2>()(pixel / cols, pixel % cols)), count.value);
    }
    const auto values = [](const Array& image) {
      const auto* from = static_cast<const std::uint64_t*>(image.data());
      return std::vector<std::uint64_t>(from, from + image.count());
    };
    EXPECT_TRUE(values(images[0].image) == expected);
    EXPECT_TRUE(values(images[1].image) == first);
    EXPECT_TRUE(values(images[2].image) == last);
    EXPECT_TRUE(values(dataset.moments().total) == expected);
  }

  sonde::testing::TemporaryFolder folder_;
};

// One test for all layouts: the sparse file is then read into the page cache once.
TEST_F(LargeScan, IsRightAtBothEndsInEveryLayout) {
  for (const LayoutChoice layout : {LayoutChoice::file, LayoutChoice::frame, LayoutChoice::pixel}) {
    SCOPED_TRACE(layout_name(layout));
    expect_right(layout);
  }
}

}  // namespace
}  // namespace sonde::stem
