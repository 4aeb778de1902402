// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/resampled_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/read/test_native.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using testing::plenty_bytes;
using testing::small_draft;
using testing::small_experiment;

/// One row of eps_r along x, cells of 1 m.
Experiment row_of(const std::vector<double>& eps_r, MaterialLocation location = MaterialLocation::node) {
  Experiment made;
  made.grid = {.cells = {1, 1, std::ssize(eps_r)}, .spacing = {1, 1, 1}};
  made.model = {.eps_r = eps_r, .sigma = std::vector<double>(eps_r.size()), .location = location};
  return made;
}
std::vector<double> resampled(Experiment experiment, double spacing) {
  resample(experiment, {1, 1, spacing});
  EXPECT_EQ(experiment.grid.cells[2], std::ssize(experiment.model.eps_r));
  return experiment.model.eps_r;
}

TEST(ResampledModel, NodesOfThirdsTakeTheNearestElement) {
  // Nodes at 0, 1/3, 2/3, ...: those up to 1/2 are nearest to the element at 0.
  const std::vector<double> made = resampled(row_of({1, 4, 9}), 1 / 3.0);
  const std::vector<double> wanted{1, 1, 4, 4, 4, 9, 9, 9, 9};
  ASSERT_EQ(made.size(), wanted.size());
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_NEAR(made[i], wanted[i], 1e-12) << i;  // rounding of thirds
}

TEST(ResampledModel, ANodeOnAnInterfaceHasTheMean) {
  EXPECT_THAT(resampled(row_of({2, 4}), 0.5), ::testing::ElementsAre(2, 3, 4, 4));
}

TEST(ResampledModel, CellsOfHalvesAreThoseTheyAreIn) {
  EXPECT_THAT(resampled(row_of({2, 4}, MaterialLocation::cell), 0.5), ::testing::ElementsAre(2, 2, 4, 4));
}

TEST(ResampledModel, LargerCellsAreMeansOfTheSmallOnes) {
  EXPECT_THAT(resampled(row_of({2, 4, 6, 8}, MaterialLocation::cell), 2), ::testing::ElementsAre(3, 7));
}

TEST(ResampledModel, WhatIsBeyondTheLastElementHasItsValue) {
  EXPECT_THAT(resampled(row_of({2, 4, 8}, MaterialLocation::cell), 2), ::testing::ElementsAre(3, 8));
}

TEST(ResampledModel, ConductorsKeepTheirCells) {
  Experiment made = row_of({2, 4});
  made.model.sigma[1] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(
      error_of(ErrorKind::bad_input,
               [&] {
                 resample(made, {1, 1, 0.5});
               }),
      "error: the model keeps its cells: sigma is infinite in some elements, which are conductors of whole cells\n"
      "hint: leave out the spacing of other ones");
}

TEST(ResampledModel, PolesOfSeveralTimesKeepTheirCells) {
  Experiment made = row_of({2, 4});
  made.poles = {{{1, 1}, {1e-9, 2e-9}}};
  EXPECT_EQ(error_of(ErrorKind::bad_input,
                     [&] {
                       resample(made, {1, 1, 0.5});
                     }),
            "error: the model keeps its cells: tau of its Debye poles varies: the mean of two relaxation times is not "
            "a relaxation\n"
            "hint: leave out the spacing of other ones");
}

TEST(ResampledModel, ASpacingOfNothingIsRefused) {
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)resampled(row_of({2}), 0); }),
            "error: spacing of the computed cells = 0 m; expected above 0");
}

TEST(ComputedSpacing, KeepsThePlacesOfTheSurvey) {
  ExperimentDraft draft = small_draft();
  draft.computed_spacing = {0.05};
  const Experiment coarse = small_experiment(), fine = experiment_of(draft, plenty_bytes);
  for (const std::size_t a : {0U, 2U})
    EXPECT_NEAR(fine.shots[1].sources[0].at[a] * fine.grid.spacing[a],
                coarse.shots[1].sources[0].at[a] * coarse.grid.spacing[a], 1e-12);
}

TEST(ComputedSpacing, DecidesTheTimeStep) {
  ExperimentDraft draft = small_draft();
  draft.computed_spacing = {0.05, 0.1};  // halves
  EXPECT_NEAR(experiment_of(draft, plenty_bytes).dt, small_experiment().dt / 2, 1e-15 * small_experiment().dt);
}

TEST(ComputedSpacing, OfAWrongUnitNeedsTooMuchMemory) {
  ExperimentDraft draft = small_draft();
  draft.computed_spacing = {1e-6};
  EXPECT_EQ(error_of(ErrorKind::budget, [&] { (void)experiment_of(draft, plenty_bytes); }).substr(0, 27),
            "error: the experiment needs");
}

}  // namespace
}  // namespace sonde::maxwell
