// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/grid_options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;

/// A cube of ground of eps_r 4 whose cells are a tenth of the shortest wave.
GridQuestion cube() {
  const double d = 0.01, v = c0 / 2;
  return {.band = {.highest_frequency = v / (10 * d), .slowest = v, .fastest = v},
          .stable_step = d / v / std::sqrt(3.0),
          .dt = 0.9 * d / v / std::sqrt(3.0),
          .steps = 400,
          .cells = [d](double factor) -> std::optional<GridSpec> {
            const auto cells = static_cast<Index>(std::ceil(100 / factor - 1e-6));
            return GridSpec{
                .mode = Mode::em3d, .cells = {cells, cells, cells}, .spacing = {d * factor, d * factor, d * factor}};
          }};
}

constexpr std::size_t any_bytes = std::numeric_limits<std::size_t>::max();

TEST(GridOptions, OfSecondOrderOnTheAxisAreAsTaflovesFormulaSays) {
  // Taflove and Hagness 2005, equation 4.14b: dt to 0 leaves the stencil, v = pi / (N asin(pi / N)) along an axis.
  GridQuestion question = cube();
  question.dt = 1e-3 * question.stable_step;
  const GridOption own = own_option(question, 2);
  const double u = std::acos(-1.0) / 10;
  EXPECT_NEAR(own.velocity_error, 1 - u / std::asin(u), 1e-6);
}

TEST(GridOptions, CheapestIsAsAccurateAsAskedForAndTheNextCheaperIsNot) {
  const std::vector<GridOption> options = grid_options(cube());
  const GridOption* chosen = cheapest(options, 0.01, any_bytes);
  ASSERT_NE(chosen, nullptr);
  EXPECT_LE(chosen->velocity_error, 0.01);
  const GridOption cheaper = alternatives(options, *chosen, 0.01).front();
  EXPECT_LT(cheaper.cost, chosen->cost);
  EXPECT_GT(cheaper.velocity_error, 0.01);
}

TEST(GridOptions, OfHighOrderAreCheaperInAVolume) {
  EXPECT_GT(cheapest(grid_options(cube()), 0.01, any_bytes)->grid.order, 2);
}

TEST(GridOptions, OfOneOrderAreThoseAskedFor) {
  GridQuestion question = cube();
  question.order = 4;
  for (const GridOption& each : grid_options(question)) EXPECT_EQ(each.grid.order, 4);
}

TEST(GridOptions, KeepTheStepOfRecordsWhereItIsGiven) {
  GridQuestion question = cube();
  question.keeps_dt = true;
  for (const GridOption& each : grid_options(question)) {
    EXPECT_EQ(each.dt, question.dt);
    EXPECT_EQ(each.steps, question.steps);
  }
}

TEST(GridOptions, KeepTheWindow) {
  const GridQuestion question = cube();
  const double window = question.dt * static_cast<double>(question.steps);
  for (const GridOption& each : grid_options(question)) {
    EXPECT_GE(each.dt * static_cast<double>(each.steps), window * (1 - 1e-9));
    EXPECT_LT(each.dt * static_cast<double>(each.steps - 1), window);
  }
}

TEST(GridOptions, AreNoMoreThanMemoryHolds) {
  const std::vector<GridOption> options = grid_options(cube());
  const GridOption* const chosen = cheapest(options, 0.01, any_bytes);
  const GridOption* const smaller = cheapest(options, 0.01, chosen->bytes - 1);
  EXPECT_TRUE(smaller == nullptr || smaller->bytes < chosen->bytes);
  EXPECT_EQ(cheapest(options, 0.01, 1000), nullptr);
}

TEST(GridOptions, OfTooFewCellsHaveNoAccuracy) {
  GridQuestion question = cube();
  question.band.highest_frequency *= 10;  // a cell per wavelength
  EXPECT_TRUE(std::isinf(own_option(question, 8).velocity_error));
}

TEST(Accuracy, IsAPercentageOrAFraction) {
  EXPECT_DOUBLE_EQ(parse_accuracy("1%", "accuracy"), 0.01);
  EXPECT_DOUBLE_EQ(parse_accuracy(" 0.5 % ", "accuracy"), 0.005);
  EXPECT_DOUBLE_EQ(parse_accuracy("0.02", "accuracy"), 0.02);
}

TEST(Accuracy, RefusesWhatIsNoSmallPart) {
  for (const char* text : {"1", "0", "-1%", "30%", "good", "%", "1%%", "nan"})
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)parse_accuracy(text, "--accuracy"); }),
              std::string("error: --accuracy: \"") + text +
                  "\"; expected a percentage above 0, at most 20 %, such as 1%, or the fraction 0.01");
}

}  // namespace
}  // namespace sonde::maxwell
