// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/first_look.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/stem/view/test_scans.h"

namespace sonde::stem {
namespace {

using stem::testing::elements;
using stem::testing::plenty;

constexpr Index look_rows = 32, look_cols = 40;

class FirstLookAt : public stem::testing::Viewed {
 protected:
  /// 70 x 45 positions: more than the grid of 32 x 32 has.
  static constexpr Index scan_rows = 70, scan_cols = 45;
  const std::string master_ = write("wide", 3, "70,45");
  PatternPreview patterns_{master_, {}, 1};
  const FirstLook look_{patterns_, {scan_rows, scan_cols, look_rows, look_cols}};
};

TEST_F(FirstLookAt, EveryPositionShowsTheNearestOfTheGrid) {
  ASSERT_EQ(look_.grid_rows(), 32);
  ASSERT_EQ(look_.grid_cols(), 32);
  std::vector<Index> pixels;
  for (Index col = 3; col < 17; ++col) pixels.push_back(9 * look_cols + col);
  const auto image = elements<std::uint64_t>(look_.image(make_mask(look_rows, look_cols, pixels)));
  ASSERT_EQ(image.size(), static_cast<std::size_t>(scan_rows * scan_cols));
  for (const auto& [row, col] : {std::pair<Index, Index>{0, 0}, {69, 44}, {35, 20}, {36, 20}, {17, 3}}) {
    SCOPED_TRACE(std::to_string(row) + ", " + std::to_string(col));
    // Intervals of 70/32 and 45/32 positions, each shown by the one in its middle.
    const Index of_row = (2 * (row * 32 / 70) + 1) * 70 / 64, of_col = (2 * (col * 32 / 45) + 1) * 45 / 64;
    EXPECT_LE(std::abs(of_row - row), 1);
    EXPECT_LE(std::abs(of_col - col), 1);
    const Array pattern = patterns_.pattern(of_row, of_col);
    std::uint64_t sum = 0;
    for (const Index pixel : pixels) sum += static_cast<const std::uint32_t*>(pattern.data())[pixel];
    EXPECT_EQ(image[static_cast<std::size_t>(row * scan_cols + col)], sum);
  }
}

TEST_F(FirstLookAt, TheBeamIsSeenInTheMeanOfTheGrid) {
  ASSERT_TRUE(look_.beam());
  EXPECT_NEAR(look_.beam()->radius, 5, 0.5);  // the radius that was simulated
}

TEST_F(FirstLookAt, MomentsAreCentresOfMass) {
  const auto moments = elements<double>(look_.moment(false));
  const Array pattern = patterns_.pattern((2 * 16 + 1) * 70 / 64, (2 * 16 + 1) * 45 / 64);
  const auto* counts = static_cast<const std::uint32_t*>(pattern.data());
  double total = 0, moment = 0;
  for (Index q = 0; q < look_rows * look_cols; ++q) {
    total += counts[q];
    moment += static_cast<double>(q % look_cols) * counts[q];
  }
  EXPECT_NEAR(moments[static_cast<std::size_t>(36 * scan_cols + 23)], moment / total,
              40 * 6e-8);  // one rounding to f32
}

}  // namespace
}  // namespace sonde::stem
