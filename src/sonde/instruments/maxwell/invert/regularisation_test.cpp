// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/regularisation.h"

#include <gtest/gtest.h>

#include "sonde/instruments/maxwell/invert/test_invert.h"

namespace sonde::maxwell {
namespace {

const CellGrid uneven{{5, 4, 6}, {0.5, 0.2, 0.3}};
const CellGrid flat{{7, 1, 9}, {0.1, 99, 0.25}};

struct RegularisationCase {
  const char* name;
  CellGrid grid;
  double (*integral)(const CellGrid&, std::span<const double>, std::span<double>);
};

double variation(const CellGrid& grid, std::span<const double> field, std::span<double> gradient) {
  return total_variation(grid, field, 0.7, 1.3, gradient);
}
double smoothness(const CellGrid& grid, std::span<const double> field, std::span<double> gradient) {
  return tikhonov(grid, field, 1.3, gradient);
}

class EachRegularisation : public ::testing::TestWithParam<RegularisationCase> {};

TEST_P(EachRegularisation, HasItsExactDerivative) {
  const auto count = static_cast<std::size_t>(GetParam().grid.count());
  const std::vector<double> field = testing::random_numbers(count, 1);
  std::vector<double> gradient(count);
  (void)GetParam().integral(GetParam().grid, field, gradient);
  testing::expect_derivative(
      [&](const std::vector<double>& there) {
        std::vector<double> ignored(count);
        return GetParam().integral(GetParam().grid, there, ignored);
      },
      field, gradient);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachRegularisation,
                         ::testing::Values(RegularisationCase{"VariationIn3D", uneven, variation},
                                           RegularisationCase{"VariationIn2D", flat, variation},
                                           RegularisationCase{"TikhonovIn3D", uneven, smoothness},
                                           RegularisationCase{"TikhonovIn2D", flat, smoothness}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(TotalVariation, OfAStepIsItsHeightTimesItsLength) {
  std::vector<double> field(63), gradient(63);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = i % 9 < 4 ? 1 : 3;
  // Seven rows of 0.1 m; the smoothing takes epsilon over one cell of each.
  const double epsilon = 1e-9;
  EXPECT_NEAR(total_variation(flat, field, epsilon, 1, gradient), 2 * 0.7, 2 * 0.7 * epsilon);
}

TEST(TotalVariation, DoesNotDependOnTheDirectionOfASlope) {
  std::vector<double> along(63), across(63), gradient(63);
  for (std::size_t i = 0; i < along.size(); ++i) {
    along[i] = 0.25 * static_cast<double>(i % 9);
    across[i] = (3 * 0.1 * static_cast<double>(i / 9) + 4 * 0.25 * static_cast<double>(i % 9)) / 5;
  }
  // A slope of 1 per metre: cells without a neighbour at the high end lack theirs.
  EXPECT_NEAR(total_variation(flat, along, 1e-9, 1, gradient), 7 * 8 * 0.025, 1e-6);
  // Across, 6 x 8 cells have both neighbours, 8 of the last row only that along x, 6 of the last column only that
  // along z.
  EXPECT_NEAR(total_variation(flat, across, 1e-9, 1, gradient), (6 * 8 + 8 * 0.8 + 6 * 0.6) * 0.025, 1e-6);
}

TEST(Tikhonov, OfASlopeIsHalfItsSquareTimesTheArea) {
  std::vector<double> field(63), gradient(63);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = 3 * 0.25 * static_cast<double>(i % 9);
  EXPECT_NEAR(tikhonov(flat, field, 2, gradient), 2 * 9.0 / 2 * 7 * 8 * 0.025, 1e-12);
}

TEST(TotalVariation, CurvatureTimesTheFieldIsTheGradient) {
  // With denominators held, the gradient is the matrix times the field.
  const std::vector<double> field = testing::random_numbers(120, 7);
  std::vector<double> gradient(120), product(120);
  (void)total_variation(uneven, field, 0.7, 1.3, gradient);
  total_variation_curvature(uneven, field, 0.7, 1.3, field, product);
  for (std::size_t i = 0; i < field.size(); ++i) EXPECT_NEAR(product[i], gradient[i], 1e-14);
}

}  // namespace
}  // namespace sonde::maxwell
