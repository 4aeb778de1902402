// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/support/errors.h"
#include "tests/support/small_scan.h"

namespace sonde::stem {
namespace {

using sonde::testing::small_scan::annulus;
using sonde::testing::small_scan::cols;
using sonde::testing::small_scan::model;
using sonde::testing::small_scan::rows;
using ::testing::HasSubstr;

TEST(Expectation, IsTheSumOfTheRates) {
  const Model scan = model({{.row = 20, .col = 18, .kind = Defect::Kind::hot, .rate = 1000}});
  std::vector<float> weights;
  const Mask disk = annulus(0, 8);
  for (std::size_t i = 0; i < disk.pixels.size(); ++i) weights.push_back(0.25f * static_cast<float>(i % 5 + 1));
  const std::vector<Mask> masks = {disk, make_mask(rows, cols, disk.pixels, weights)};
  const Expectation expected = expect(scan, masks);
  const Index position = 437;
  std::vector<double> rate(static_cast<std::size_t>(rows * cols));
  Model::Scratch scratch;
  scan.rates(position, scratch, rate);
  rate[20 * cols + 18] = 0;  // the defect does not count
  double sum = 0, weighted = 0, squares = 0, total = 0, moment = 0;
  for (std::size_t i = 0; i < disk.pixels.size(); ++i) {
    const double value = rate[static_cast<std::size_t>(disk.pixels[i])], weight = static_cast<double>(weights[i]);
    sum += value;
    weighted += weight * value;
    squares += weight * weight * value;
  }
  for (Index i = 0; i < rows * cols; ++i) {
    total += rate[static_cast<std::size_t>(i)];
    moment += static_cast<double>(i / cols) * rate[static_cast<std::size_t>(i)];
  }
  EXPECT_NEAR((expected.images.view<double, 2>()(0, position)), sum, 1e-9 * sum);
  EXPECT_NEAR((expected.images.view<double, 2>()(1, position)), weighted, 1e-9 * weighted);
  EXPECT_NEAR((expected.variances.view<double, 2>()(1, position)), squares, 1e-9 * squares);
  EXPECT_NEAR((expected.total.view<double, 1>()(position)), total, 1e-9 * total);
  EXPECT_NEAR((expected.moment_row.view<double, 1>()(position)), moment, 1e-9 * moment);
  EXPECT_EQ((expected.pattern.view<double, 2>()(20, 18)), 0);
}

TEST(ReducedChiSquare, CountsOnlyValuesThatVary) {
  const std::vector<double> measured = {3, 5, 0}, expected = {1, 5, 0}, variance = {2, 1, 0};
  EXPECT_DOUBLE_EQ(reduced_chi_square(measured, expected, variance), 1);  // (4 / 2 + 0) / 2
}

TEST(ReducedChiSquare, IsInfiniteWhereTheImpossibleHappened) {
  const std::vector<double> measured = {1}, expected = {0}, variance = {0};
  EXPECT_EQ(reduced_chi_square(measured, expected, variance), std::numeric_limits<double>::infinity());
}

TEST(ReducedChiSquare, TakesImagesOfEveryType) {
  const Array expected = Array::from<double>({9, 9, 4, 16}, {2, 2});
  EXPECT_DOUBLE_EQ(reduced_chi_square(Array::from<std::uint64_t>({6, 20}, {2}), expected, expected, 1), 1);
  EXPECT_DOUBLE_EQ(reduced_chi_square(Array::from<std::uint8_t>({6, 20}, {1, 2}), expected, expected, 1), 1);
  EXPECT_DOUBLE_EQ(reduced_chi_square(Array::from<float>({6, 12}, {2}), expected, expected), 1);
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input,
                               [&] {
                                 (void)reduced_chi_square(Array::from<std::int8_t>({6, 20}, {2}), expected, expected);
                               }),
      HasSubstr("chi-square of an image of i8"));
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input,
                               [&] {
                                 (void)reduced_chi_square(Array::from<float>({6, 20}, {2}), expected, expected, 2);
                               }),
      HasSubstr("line 2 of 4 values of f64"));
}

TEST(ReducedChiSquare, SizesMustAgree) {
  const std::vector<double> one = {1}, two = {1, 2};
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)reduced_chi_square(one, two, two); }),
              HasSubstr("chi-square of 1 values with 2 expectations"));
}

TEST(Expectation, MasksOfAnotherDetectorAreAnError) {
  const std::vector<Mask> masks = {make_mask(8, 8, {0})};
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)expect(model(), masks); }),
              HasSubstr("a mask of 8 x 8 pixels for a detector of 40 x 36"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { (void)expect(model(), {}, std::vector<std::uint8_t>(7, 1)); }),
              HasSubstr("7 values for a detector of 1440 pixels"));
}

}  // namespace
}  // namespace sonde::stem
