// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/energy_meter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

class EnergyMeterOf : public ::testing::TestWithParam<MixedCase> {};

/// Energies before each of so many steps.
template <class T>
std::vector<FieldEnergy> measured(const Problem& problem, Propagator<T>& fields, Index steps) {
  EnergyMeter<T> meter(problem, fields);
  std::vector<FieldEnergy> made;
  fields.run({}, steps, {}, {},
             {.before = [&](Index) { meter.measure_next(true); },
              .planes = meter.hooks(),
              .after = [&](Index, const Propagator<T>&) { made.push_back(meter.taken()); }});
  return made;
}

TEST_P(EnergyMeterOf, FindsTheEnergyOfAClosedBoxWithoutLossConstant) {
  Problem problem = testing::mixed_problem(GetParam());
  GridSpec spec = problem.grid.spec();
  for (std::size_t a = 0; a < 3; ++a) spec.cells[a] += spec.pml[a][0] + spec.pml[a][1];
  spec.pml = {};
  problem.grid = Grid(spec);
  for (auto& sigma : problem.medium.sigma) std::fill(sigma.begin(), sigma.end(), 0.0);
  problem.pml = pml_profiles(problem.grid, problem.medium, {}, problem.dt, 0);
  Propagator<double> fields(problem);
  fields.set_state(testing::mixed_state(problem, 5));
  const std::vector<FieldEnergy> found = measured(problem, fields, 300);
  const double first = found[0].electric + found[0].magnetic;
  double most = 0, least_electric = found[0].electric, most_electric = 0;
  for (const FieldEnergy& each : found) {
    most = std::max(most, std::abs((each.electric + each.magnetic) / first - 1));
    least_electric = std::min(least_electric, each.electric);
    most_electric = std::max(most_electric, each.electric);
  }
  EXPECT_LT(most, 1e-12);                           // rounding of 300 steps
  EXPECT_GT(most_electric, 1.02 * least_electric);  // it goes to and fro between E and H
}

TEST_P(EnergyMeterOf, CountsTheCellsOfTheModelOnly) {
  const Problem problem = testing::mixed_problem(GetParam());
  const Grid& grid = problem.grid;
  Propagator<float> fields(problem);
  fields.set_state(testing::mixed_state(problem, 6));
  const State before = fields.state();
  const FieldEnergy found = measured(problem, fields, 1).front();
  const State after = fields.state();
  double electric = 0, magnetic = 0;
  for_each_node(grid, [&](const Triple& at, std::size_t node) {
    for (const Axis axis : all_axes) {
      const Index i = at[dimension(axis)] - grid.low(axis);
      if (i < 0 || i >= grid.cells(axis)) return;
    }
    for (const Component c : grid.components()) {
      const auto which = static_cast<std::size_t>(c);
      const double old = before.fields[which][node];
      if (is_electric(c))
        electric += eps0 * problem.medium.eps_r[place(c)][node] * old * old / 2;
      else
        magnetic += mu0 * problem.medium.mu_r[place(c)][node] * old * after.fields[which][node] / 2;
    }
  });
  // The same float64 products of float32 fields in another order.
  EXPECT_NEAR(found.electric / (electric * grid.cell_volume()), 1, 1e-12);
  EXPECT_NEAR(found.magnetic / (magnetic * grid.cell_volume()), 1, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Cases, EnergyMeterOf,
                         ::testing::Values(MixedCase{}, MixedCase{.order = 8}, MixedCase{.mode = Mode::em3d},
                                           MixedCase{.mode = Mode::em3d, .order = 6}),
                         [](const auto& each) { return testing::text_of(each.param); });

}  // namespace
}  // namespace sonde::maxwell
