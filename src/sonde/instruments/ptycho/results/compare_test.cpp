// SPDX-License-Identifier: Apache-2.0
// Objects of one formula on grids of their own.
#include "sonde/instruments/ptycho/results/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

double phase_at(double row, double col, Index slice) {
  constexpr double turn = 2 * std::numbers::pi / 96;
  const double other = slice == 0 ? 1.0 : 1.7;
  return 0.25 * std::cos(turn * (7 * row + 3 * other * col) + 0.3) +
         0.2 * std::cos(turn * (2 * other * row - 9 * col)) + 0.15 * std::sin(turn * (11 * row + 8 * col) + other);
}

/// rows x cols pixels from `origin` on, of which all but ten at each side are looked at.
PlacedObject object(Index rows, Index cols, Point origin, Index slices = 1, complex128 factor = 1) {
  PlacedObject made{"a.h5",
                    Array(Device::cpu(), {slices, rows, cols}, DType::c128),
                    true,
                    0.2,
                    0.2,
                    origin,
                    {10, 10, rows - 20, cols - 20}};
  const auto values = made.object.view<complex128, 3>();
  for (Index s = 0; s < slices; ++s)
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col)
        values(s, row, col) = factor * std::polar(1.0, phase_at(static_cast<double>(row) + origin.row,
                                                                static_cast<double>(col) + origin.col, s));
  return made;
}

TEST(CompareObjects, MeetsTheSamePlacesOfObjectsOfOtherSizes) {
  const ObjectComparison found =
      compare_objects(object(80, 70, {3, -4}, 1, {0, 0.5}), object(60, 90, {11, 2}), Start::near);
  // Rows 21 to 60 of the scan are in both views, columns 12 to 55.
  EXPECT_EQ(found.view, (Box{18, 16, 40, 44}));
  EXPECT_LT(found.whole.phase.rmse, 1e-12);  // rounding
  EXPECT_NEAR(found.whole.phase.scale, 2, 1e-12);
  for (const double correlation : found.whole.rings.correlation) EXPECT_GT(correlation, 1 - 1e-12);
  EXPECT_FALSE(found.whole.rings.resolution());
  EXPECT_EQ(found.first.shape(), (Shape{40, 44}));
}

TEST(CompareObjects, FindsThePartOfAPixelBetweenTheirOrigins) {
  const ObjectComparison found = compare_objects(object(96, 96, {0.3, 0}), object(96, 96, {0, 0.4}), Start::blind);
  // The formula is periodic over 96 pixels, so that the shift in Fourier space is exact; its search ends at 1/100 px.
  EXPECT_NEAR(found.whole.phase.shift_row, -0.3, 0.01);
  EXPECT_NEAR(found.whole.phase.shift_col, 0.4, 0.01);
  EXPECT_LT(found.whole.phase.rmse, 2e-3);
}

TEST(CompareObjects, ComparesSlicesOneByOneWhenBothHaveAsMany) {
  PlacedObject first = object(80, 80, {0, 0}, 2), second = object(80, 80, {0, 0}, 2);
  const auto values = first.object.view<complex128, 3>();
  // Noise only of the second slice: + and - 0.1 in turn.
  for (Index row = 0; row < 80; ++row)
    for (Index col = 0; col < 80; ++col) values(1, row, col) *= std::polar(1.0, (row + col) % 2 == 0 ? 0.1 : -0.1);
  const ObjectComparison found = compare_objects(first, second, Start::near);
  ASSERT_EQ(found.slices.size(), 2u);
  EXPECT_LT(found.slices[0].phase.rmse, 1e-12);
  // What the fit of five unknowns to 3600 pixels takes away is below a thousandth of it.
  EXPECT_NEAR(found.slices[1].phase.rmse, 0.1, 1e-3);
  EXPECT_NEAR(found.whole.phase.rmse, 0.1, 1e-3);
  EXPECT_TRUE(compare_objects(first, object(80, 80, {0, 0}, 1), Start::near).slices.empty());
  const Value value = found.to_value();
  EXPECT_EQ(value.find("slices")->size(), 2u);
  EXPECT_NEAR(number_at(value, "phase_rmse"), 0.1, 1e-3);
  EXPECT_TRUE(value.find("resolution_A") != nullptr);
}

TEST(CompareObjects, RefusesWhatDoesNotBelongTogether) {
  const auto refused = [](const PlacedObject& second) {
    return error_of(ErrorKind::bad_input, [&] { (void)compare_objects(object(80, 80, {0, 0}), second, Start::near); });
  };
  PlacedObject other = object(80, 80, {0, 0});
  other.name = "b.h5";
  other.pixel_col = 0.21;
  EXPECT_THAT(refused(other), HasSubstr("a.h5 has object pixels of 0.2 x 0.2 A, b.h5 has them of 0.2 x 0.21 A"));
  other = object(80, 80, {0, 0});
  other.calibrated = false;
  EXPECT_THAT(refused(other), HasSubstr("without a unit"));
  EXPECT_THAT(refused(object(80, 80, {55, 0})), HasSubstr("have 5 x 60 pixels in common"));
  EXPECT_THAT(refused(object(80, 80, {0, 500})), HasSubstr("x 0 pixels in common"));
}

}  // namespace
}  // namespace sonde::ptycho
