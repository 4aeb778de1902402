// SPDX-License-Identifier: Apache-2.0
// Operations that run beside a load, in the same pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/pass/centre_sums.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/budget.h"

namespace sonde::stem {
namespace {

using sonde::testing::plenty;
using stem::testing::MemorySource;

/// Counts up to 400 in 10 x 10 frames of 9 x 9 pixels. One pixel is hot, but not in the frames of the sample before a
/// load: only the sums over all frames show it.
std::unique_ptr<Source> source_with_a_late_hot_pixel() {
  std::mt19937_64 random(3);
  std::vector<std::uint16_t> values(100 * 81);
  for (auto& value : values) value = static_cast<std::uint16_t>(random() % 401);
  for (std::size_t frame = 1; frame < 100; frame += 25) values[frame * 81 + 40] = 65000;
  return std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, std::move(values));
}

bool equal(const Array& a, const Array& b) {
  const auto *left = static_cast<const std::uint64_t*>(a.data()), *right = static_cast<const std::uint64_t*>(b.data());
  return a.count() == b.count() && std::equal(left, left + a.count(), right);
}

TEST(BesideALoad, OperationsSeeWhatTheMomentsCount) {
  for (const LayoutChoice layout :
       {LayoutChoice::file, LayoutChoice::compressed, LayoutChoice::frame, LayoutChoice::pixel})
    for (const char* bin : {"1", "2"}) {
      LoadOptions options;
      options.layout = layout;
      options.det_bin = bin;
      CentreSums sums;
      Operation* const operation = &sums;
      const Dataset dataset =
          load(source_with_a_late_hot_pixel(), options, plenty(), Device::cpu(), std::span(&operation, 1));
      SCOPED_TRACE(::testing::Message() << "layout " << static_cast<int>(layout) << " bin " << bin);
      EXPECT_EQ(dataset.bad_pixels().size(), 1U);
      EXPECT_GE(dataset.passes(), 2);  // what the pixel added is not taken back from other operations
      EXPECT_TRUE(equal(sums.total, dataset.moments().total));
      EXPECT_TRUE(equal(sums.moment_row, dataset.moments().moment_row));
      EXPECT_TRUE(equal(sums.moment_col, dataset.moments().moment_col));
    }
}

TEST(BesideALoad, TheyAreInThePlan) {
  LoadOptions options;
  options.layout = LayoutChoice::file;
  CentreSums sums;
  Operation* const operation = &sums;
  const std::size_t without = load(source_with_a_late_hot_pixel(), options, plenty()).estimate().predicted_peak_bytes;
  EXPECT_EQ(load(source_with_a_late_hot_pixel(), options, plenty(), Device::cpu(), std::span(&operation, 1))
                .estimate()
                .predicted_peak_bytes,
            without + 100 * 5 * 8);
}

TEST(VisitFrames, SomePositionsAreThoseOfTheWholeScan) {
  const Dataset dataset = load(source_with_a_late_hot_pixel(), {}, plenty());
  const std::vector<Index> chosen = {3, 4, 77, 99};
  CentreSums sums;
  Operation* const operation = &sums;
  visit_frames(dataset, "some", std::span(&operation, 1), chosen);
  const auto all = dataset.moments().total.view<std::uint64_t, 1>();
  const View<const std::uint64_t, 1> some = std::as_const(sums.total).view<std::uint64_t, 1>();
  ASSERT_EQ(sums.total.count(), 4);
  for (Index i = 0; i < 4; ++i) EXPECT_EQ(some(i), all(chosen[static_cast<std::size_t>(i)]));
}

}  // namespace
}  // namespace sonde::stem
