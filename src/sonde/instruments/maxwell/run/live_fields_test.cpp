// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/live_fields.h"

#include <gtest/gtest.h>

#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"
#include "sonde/instruments/maxwell/run/operator.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

constexpr Index live_steps = 20;

Operator live_operator(Mode mode, Precision precision, int order = 2, double ratio = 0.9) {
  Problem problem = testing::mixed_problem({.mode = mode, .order = order});
  const double dt = ratio * largest_time_step(problem.grid, problem.medium);
  return {std::move(problem), {}, 1 / (20 * dt), {.dt = dt, .steps = live_steps, .precision = precision}};
}

Shot live_shot(const Problem& problem) {
  Shot made{testing::mixed_shot(problem), {}};
  testing::Numbers numbers(7);
  for (const Point& source : made.points.sources)
    for (Index n = 0; n < live_steps; ++n)
      made.amplitudes.push_back(numbers() * problem.grid.cell_volume() * (is_electric(source.component) ? 1 : 300));
  return made;
}

/// What a receiver reads, of the fields that are shown.
double seen_by(const Point& receiver, const LiveFields& fields) {
  const Triple& n = fields.grid().extents();
  return fields.view(receiver.component, Part::padded, [&](const auto& field) {
    double sum = 0;
    for (const PointTap& tap : receiver.taps)
      sum += tap.weight * static_cast<double>(field(tap.node / (n[1] * n[2]), tap.node / n[2] % n[1], tap.node % n[2]));
    return sum;
  });
}

class LiveFieldsOf : public ::testing::TestWithParam<std::pair<Mode, Precision>> {};

TEST_P(LiveFieldsOf, AreWhatReceiversRecorded) {
  Operator waves = live_operator(GetParam().first, GetParam().second);
  ASSERT_EQ(waves.ratio(), 1);
  const Shot shot = live_shot(waves.problem());
  std::vector<std::vector<double>> seen(shot.points.receivers.size());
  const std::vector<double> record = waves.forward(shot, {}, {.look = [&](Index, LiveFields& fields) {
                                                     for (std::size_t r = 0; r < seen.size(); ++r)
                                                       seen[r].push_back(seen_by(shot.points.receivers[r], fields));
                                                   }});
  for (std::size_t r = 0; r < seen.size(); ++r) {
    ASSERT_EQ(seen[r].size(), static_cast<std::size_t>(live_steps) + 1);
    EXPECT_EQ(seen[r][0], 0);
    for (std::size_t n = 0; n < static_cast<std::size_t>(live_steps); ++n)
      EXPECT_EQ(seen[r][n + 1], record[r * static_cast<std::size_t>(live_steps) + n]) << "receiver " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LiveFieldsOf,
                         ::testing::Values(std::pair{Mode::tm2d, Precision::f32}, std::pair{Mode::tm2d, Precision::f64},
                                           std::pair{Mode::em3d, Precision::f32}));

TEST(LiveFields, AreShownAtStepsOfTheSurveyOnly) {
  Operator waves = live_operator(Mode::tm2d, Precision::f32, 8, 2.5);
  ASSERT_EQ(waves.ratio(), 3);
  std::vector<Index> steps, energies;
  (void)waves.forward(live_shot(waves.problem()), {},
                      {.look = [&](Index step, LiveFields&) { steps.push_back(step); },
                       .energy = [&](Index step, const FieldEnergy&) { energies.push_back(step); },
                       .energy_every = 7});
  ASSERT_EQ(steps.size(), static_cast<std::size_t>(live_steps) + 1);
  EXPECT_EQ(steps.back(), live_steps);
  EXPECT_EQ(energies, (std::vector<Index>{0, 7, 14}));
}

TEST(LiveFields, EditsAreSeenByTheNextStep) {
  // A source adds -cb I / V to E behind its step: who adds the same to the field before the next step is that source.
  for (const int order : {2, 8}) {
    Operator waves = live_operator(Mode::em3d, Precision::f64, order);
    const Problem& problem = waves.problem();
    const Index k = 4, j = 4, i = 6, node = problem.grid.index(k, j, i), other = problem.grid.index(6, 5, 9);
    Shot shot{{{{Component::Ey, {{node}}}}, {{Component::Ey, {{other}}}, {Component::Hx, {{other}}}}}, {}};
    for (Index n = 0; n < live_steps; ++n) shot.amplitudes.push_back(n < 5 ? 1e-3 * static_cast<double>(n + 1) : 0);
    const std::vector<double> by_source = waves.forward(shot);
    const std::vector<double> amplitudes = std::exchange(shot.amplitudes, {});
    shot.points.sources.clear();
    const double cb = coefficients(problem.medium, problem.grid, problem.dt, problem.loss)
                          .cb[place(Component::Ey)][static_cast<std::size_t>(node)];
    const std::vector<double> by_edits =
        waves.forward(shot, {}, {.look = [&](Index step, LiveFields& fields) {
                        if (step == 0) return;
                        fields.edit(Component::Ey, Part::padded, [&]<class T>(const View<T, 3>& field) {
                          const double current = amplitudes[static_cast<std::size_t>(step - 1)];
                          field(k, j, i) -= static_cast<T>(cb * current / problem.grid.cell_volume());
                        });
                      }});
    double most = 0, difference = 0;
    for (std::size_t n = 0; n < by_source.size(); ++n) {
      most = std::max(most, std::abs(by_source[n]));
      difference = std::max(difference, std::abs(by_source[n] - by_edits[n]));
    }
    EXPECT_GT(most, 0);
    EXPECT_LT(difference, 1e-13 * most);  // one product is rounded in another order
  }
}

TEST(LiveFields, OfTheModelAreThoseWithoutLayers) {
  Operator waves = live_operator(Mode::tm2d, Precision::f32);
  const Grid& grid = waves.problem().grid;
  (void)waves.forward(live_shot(waves.problem()), {}, {.look = [&](Index, LiveFields& fields) {
                        const auto at = [&](Part part, Index k, Index i) {
                          return fields.view(Component::Ey, part,
                                             [&](const auto& field) { return static_cast<double>(field(k, 0, i)); });
                        };
                        fields.view(Component::Ey, Part::model, [&](const auto& field) {
                          EXPECT_EQ(field.extent[0], grid.cells(Axis::z));
                          EXPECT_EQ(field.extent[2], grid.cells(Axis::x));
                        });
                        EXPECT_EQ(at(Part::model, 2, 3),
                                  at(Part::padded, 2 + grid.low(Axis::z), 3 + grid.low(Axis::x)));
                      }});
}

TEST(LiveFields, ThatARunDoesNotHaveAreNamed) {
  Operator waves = live_operator(Mode::tm2d, Precision::f32);
  const std::string said = sonde::testing::error_of(ErrorKind::bad_input, [&] {
    (void)waves.forward(live_shot(waves.problem()), {}, {.look = [](Index, LiveFields& fields) {
                          fields.view(Component::Ez, Part::model, [](const auto&) {});
                        }});
  });
  EXPECT_EQ(said, "error: Ez: the fields of this run are Ey, Hx, Hz");
}

}  // namespace
}  // namespace sonde::maxwell
