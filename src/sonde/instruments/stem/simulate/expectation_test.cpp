// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sonde/instruments/stem/simulate/frames.h"
#include "sonde/instruments/stem/simulate/specimen.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

constexpr Index rows = 40, cols = 36, positions = 900;

Model scan(std::vector<Defect> defects = {}) {
  Optics optics;
  optics.rows = rows;
  optics.cols = cols;
  optics.dose = 3000;
  optics.centre_row = 19.6;
  optics.centre_col = 17.2;
  optics.disk_radius = 6;
  optics.halo_length = 7;
  return Model(optics, 30, 30, scan_over(Specimen(11, 3), 30, 30, 0.5), std::move(defects));
}

Mask annulus(double inner, double outer) {
  std::vector<Index> pixels;
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      const double distance = std::hypot(static_cast<double>(row) - 19.6, static_cast<double>(col) - 17.2);
      if (distance >= inner && distance < outer) pixels.push_back(row * cols + col);
    }
  }
  return make_mask(rows, cols, pixels);
}

TEST(Expectation, IsTheSumOfTheRates) {
  const Model model = scan({{.row = 20, .col = 18, .kind = Defect::Kind::hot, .rate = 1000}});
  std::vector<float> weights;
  const Mask disk = annulus(0, 8);
  for (std::size_t i = 0; i < disk.pixels.size(); ++i) weights.push_back(0.25f * static_cast<float>(i % 5 + 1));
  const std::vector<Mask> masks = {disk, make_mask(rows, cols, disk.pixels, weights)};
  const Expectation expected = expect(model, masks);
  const Index position = 437;
  std::vector<double> rate(static_cast<std::size_t>(rows * cols));
  Model::Scratch scratch;
  model.rates(position, scratch, rate);
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

/// Every kind of sum over simulated counts against its expectation.
class Simulated : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::vector<Mask> masks = {annulus(0, 6), annulus(3, 6), annulus(6, 12), annulus(12, 40)};
    expected_ = new Expectation(expect(scan(), masks));
    frames_ = new Array(simulate_frames(scan(), 77, 0, positions, DType::u16));
  }
  static void TearDownTestSuite() {
    delete expected_;
    delete frames_;
  }
  /// sum over pixels of weight(row, col) x counts, for each position.
  template <class Weight>
  static std::vector<double> measured(Weight&& weight) {
    std::vector<double> sums;
    const auto counts = frames_->view<std::uint16_t, 3>();
    for (Index position = 0; position < positions; ++position) {
      double sum = 0;
      for (Index row = 0; row < rows; ++row)
        for (Index col = 0; col < cols; ++col) sum += weight(row, col) * counts(position, row, col);
      sums.push_back(sum);
    }
    return sums;
  }
  static std::span<const double> values(const Array& array, Index line = 0) {
    return {static_cast<const double*>(array.data()) + line * positions, static_cast<std::size_t>(positions)};
  }
  // Five standard deviations of the sum of 900 squared normal deviates, per value.
  static constexpr double tolerance = 5 * 0.0471;
  static Expectation* expected_;
  static Array* frames_;
};
Expectation* Simulated::expected_ = nullptr;
Array* Simulated::frames_ = nullptr;

TEST_F(Simulated, ImagesScatterByCountingNoise) {
  const std::vector<Mask> masks = {annulus(0, 6), annulus(3, 6), annulus(6, 12), annulus(12, 40)};
  for (std::size_t m = 0; m < masks.size(); ++m) {
    SCOPED_TRACE(m);
    std::vector<double> inside(static_cast<std::size_t>(rows * cols), 0);
    for (const Index pixel : masks[m].pixels) inside[static_cast<std::size_t>(pixel)] = 1;
    const auto image =
        measured([&](Index row, Index col) { return inside[static_cast<std::size_t>(row * cols + col)]; });
    const auto line = static_cast<Index>(m);
    EXPECT_NEAR(reduced_chi_square(image, values(expected_->images, line), values(expected_->variances, line)), 1,
                tolerance);
  }
}

TEST_F(Simulated, FirstMomentsScatterByCountingNoise) {
  const auto by_row = measured([](Index row, Index) { return static_cast<double>(row); });
  const auto by_col = measured([](Index, Index col) { return static_cast<double>(col); });
  EXPECT_NEAR(reduced_chi_square(by_row, values(expected_->moment_row), values(expected_->variance_row)), 1, tolerance);
  EXPECT_NEAR(reduced_chi_square(by_col, values(expected_->moment_col), values(expected_->variance_col)), 1, tolerance);
}

TEST_F(Simulated, ThePatternScattersByCountingNoise) {
  std::vector<double> sum(static_cast<std::size_t>(rows * cols), 0);
  for (Index i = 0; i < frames_->count(); ++i)
    sum[static_cast<std::size_t>(i % (rows * cols))] += static_cast<const std::uint16_t*>(frames_->data())[i];
  const std::span<const double> expected(static_cast<const double*>(expected_->pattern.data()), sum.size());
  EXPECT_NEAR(reduced_chi_square(sum, expected, expected), 1, 5 * std::sqrt(2.0 / static_cast<double>(sum.size())));
}

TEST_F(Simulated, AWrongExpectationShows) {
  const std::vector<Mask> moved = {annulus(0, 6.5)};
  const Expectation wrong = expect(scan(), moved);
  std::vector<double> inside(static_cast<std::size_t>(rows * cols), 0);
  for (const Index pixel : annulus(0, 6).pixels) inside[static_cast<std::size_t>(pixel)] = 1;
  const auto image = measured([&](Index row, Index col) { return inside[static_cast<std::size_t>(row * cols + col)]; });
  EXPECT_GT(reduced_chi_square(image, values(wrong.images), values(wrong.variances)), 2);
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
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input,
                                [&] {
                                  (void)reduced_chi_square(Array::from<std::int8_t>({6, 20}, {2}), expected, expected);
                                }),
              HasSubstr("chi-square of an image of i8"));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input,
                                [&] {
                                  (void)reduced_chi_square(Array::from<float>({6, 20}, {2}), expected, expected, 2);
                                }),
              HasSubstr("line 2 of 4 values of f64"));
}

TEST(ReducedChiSquare, SizesMustAgree) {
  const std::vector<double> one = {1}, two = {1, 2};
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { (void)reduced_chi_square(one, two, two); }),
              HasSubstr("chi-square of 1 values with 2 expectations"));
}

TEST(Expectation, MasksOfAnotherDetectorAreAnError) {
  const std::vector<Mask> masks = {make_mask(8, 8, {0})};
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { (void)expect(scan(), masks); }),
              HasSubstr("a mask of 8 x 8 pixels for a detector of 40 x 36"));
  EXPECT_THAT(
      testing::error_of(ErrorKind::bad_input, [&] { (void)expect(scan(), {}, std::vector<std::uint8_t>(7, 1)); }),
      HasSubstr("7 values for a detector of 1440 pixels"));
}

}  // namespace
}  // namespace sonde::stem
