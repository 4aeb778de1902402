// SPDX-License-Identifier: Apache-2.0
// Simulated counts scatter about their expectation by counting noise, and by nothing else.
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "sonde/instruments/stem/simulate/expectation.h"
#include "sonde/instruments/stem/simulate/frames.h"
#include "tests/support/small_scan.h"

namespace sonde::stem {
namespace {

using sonde::testing::small_scan::annulus;
using sonde::testing::small_scan::cols;
using sonde::testing::small_scan::model;
using sonde::testing::small_scan::positions;
using sonde::testing::small_scan::rows;

/// Every kind of sum over simulated counts against its expectation.
class Simulated : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::vector<Mask> masks = {annulus(0, 6), annulus(3, 6), annulus(6, 12), annulus(12, 40)};
    expected_ = new Expectation(expect(model(), masks));
    frames_ = new Array(simulate_frames(model(), 77, 0, positions, DType::u16));
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
  const Expectation wrong = expect(model(), moved);
  std::vector<double> inside(static_cast<std::size_t>(rows * cols), 0);
  for (const Index pixel : annulus(0, 6).pixels) inside[static_cast<std::size_t>(pixel)] = 1;
  const auto image = measured([&](Index row, Index col) { return inside[static_cast<std::size_t>(row * cols + col)]; });
  EXPECT_GT(reduced_chi_square(image, values(wrong.images), values(wrong.variances)), 2);
}

TEST_F(Simulated, EveryPixelHasTheMeanAndVarianceOfItsOwnRate) {
  const Model scan = model();
  std::vector<double> rate(static_cast<std::size_t>(rows * cols));
  Model::Scratch scratch;
  double sum = 0, expected = 0, chi_square = 0;
  for (Index frame = 0; frame < positions; ++frame) {
    scan.rates(frame, scratch, rate);
    for (Index i = 0; i < rows * cols; ++i) {
      const double mean = rate[static_cast<std::size_t>(i)];
      const double count = static_cast<const std::uint16_t*>(frames_->data())[frame * rows * cols + i];
      sum += count;
      expected += mean;
      chi_square += (count - mean) * (count - mean) / mean;  // variance / mean, averaged over all rates
    }
  }
  const auto cells = static_cast<double>(frames_->count());
  EXPECT_NEAR(sum, expected, 5 * std::sqrt(expected));
  EXPECT_NEAR(chi_square / cells, 1, 0.02);  // standard error sqrt((2 + <1 / rate>) / cells) = 0.003
}

}  // namespace
}  // namespace sonde::stem
