// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/coarse_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/maxwell/invert/test_invert.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

class EachSpline : public ::testing::TestWithParam<Spline> {
 protected:
  static constexpr Triple cells_{9, 4, 11};
  CoarseGrid coarse_{cells_, {3, 1, 4}, GetParam()};
};

TEST_P(EachSpline, TransposeIsExact) {
  const auto numbers = testing::random_numbers(static_cast<std::size_t>(coarse_.count()), 1);
  const auto field = testing::random_numbers(9 * 4 * 11, 2);
  // Sums of some hundred products of random sign.
  EXPECT_NEAR(testing::product(coarse_.to_cells(numbers), field), testing::product(numbers, coarse_.to_nodes(field)),
              1e-13);
}

TEST_P(EachSpline, WeightsOfACellSumToOne) {
  const std::vector<double> ones(static_cast<std::size_t>(coarse_.count()), 1.0);
  for (const double each : coarse_.to_cells(ones)) EXPECT_NEAR(each, 1, 1e-15);
}

TEST_P(EachSpline, ReproducesASlopeAwayFromTheEnds) {
  std::vector<double> numbers(static_cast<std::size_t>(coarse_.count()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 4.0 * static_cast<double>(i % 4);
  const auto field = coarse_.to_cells(numbers);
  for (std::size_t x = 4; x < 8; ++x) EXPECT_NEAR(field[x], static_cast<double>(x), 1e-14);
}

INSTANTIATE_TEST_SUITE_P(Splines, EachSpline, ::testing::Values(Spline::linear, Spline::cubic),
                         [](const auto& each) { return each.param == Spline::linear ? "Linear" : "Cubic"; });

TEST(CoarseGrid, LastNodeIsAtOrBeyondTheLastCell) {
  EXPECT_EQ(CoarseGrid({10, 1, 9}, {4, 4, 4}, Spline::linear).nodes(), (Triple{4, 1, 3}));
}

TEST(CoarseGrid, WithANodeForEachCellIsTheIdentity) {
  const CoarseGrid coarse({3, 2, 4}, {1, 1, 1}, Spline::linear);
  const auto numbers = testing::random_numbers(24, 3);
  EXPECT_EQ(coarse.to_cells(numbers), numbers);
}

TEST(CoarseGrid, NodesEveryZeroCellsAreAnError) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [] {
                                         CoarseGrid({3, 3, 3}, {1, 0, 1}, Spline::linear);
                                       }),
              ::testing::HasSubstr("coarse grid: a node every 0 cells; at least 1"));
}

}  // namespace
}  // namespace sonde::maxwell
