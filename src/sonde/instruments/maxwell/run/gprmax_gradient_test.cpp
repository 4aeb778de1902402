// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/gprmax_gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/maxwell/read/gprmax_model.h"

namespace sonde::maxwell {
namespace {

/// Wet soil below air, with two poles in one of its materials: an edge at the surface has none of its own.
GprmaxInput wet_soil() {
  return parse_gprmax_input(
      "#title: Wet soil\n#domain: 0.12 0.10 0.11\n#dx_dy_dz: 0.005 0.005 0.005\n#time_window: 90\n#pml_cells: 3\n"
      "#material: 4 0.01 1 0 soil\n#add_dispersion_debye: 1 3 2e-11 soil\n"
      "#material: 5 0.02 1 0 clay\n#add_dispersion_debye: 2 2 1e-11 4 8e-11 clay\n"
      "#box: 0 0 0 0.12 0.10 0.06 soil\n#box: 0.04 0.03 0.02 0.08 0.07 0.05 clay\n"
      "#waveform: ricker 1 2e9 pulse\n#hertzian_dipole: y 0.04 0.05 0.065 pulse\n#rx: 0.085 0.05 0.07\n",
      "wet.in");
}

double misfit_of(const GprmaxModel& model, const GprmaxOutput& observed) {
  GprmaxRun run(wet_soil(), model, {.precision = Precision::f64});
  double sum = 0;
  const GprmaxRecord record = run.run(0);
  for (const GprmaxTrace& trace : record.traces.front()) {
    const std::vector<double>& wanted = observed.receivers.front().fields.at(trace.component);
    for (std::size_t n = 0; n < wanted.size(); ++n) sum += std::pow(trace.samples[n] - wanted[n], 2) / 2;
  }
  return sum;
}

GprmaxOutput nothing_observed(const GprmaxModel& model) {
  GprmaxOutput made;
  made.iterations = model.iterations;
  made.dt = model.dt;
  auto& fields = made.receivers.emplace_back().fields;
  for (const Component c : all_components) fields[c].resize(static_cast<std::size_t>(model.iterations));
  return made;
}

ComponentChange gradient_of(const GprmaxModel& model) {
  GprmaxRun run(wet_soil(), model, {.precision = Precision::f64});
  GprmaxGradientRun gradient(run, nothing_observed(model), "field.out", {.eps_r = false, .sigma = false, .poles = true},
                             {}, TierBudgets::unlimited());
  return gradient.run().medium;
}

/// Against central differences, at an edge along y.
void expect_difference_quotient(const GprmaxModel& model, const Triple& at) {
  const ComponentChange found = gradient_of(model);
  ASSERT_EQ(found.poles.size(), 2U);
  const Grid grid(model.grid);
  const auto edge = static_cast<std::size_t>(grid.index(at[0], at[1], at[2]));
  constexpr std::size_t y = 1;
  const GprmaxOutput observed = nothing_observed(model);
  for (std::size_t p = 0; p < 2; ++p)
    for (const auto part : {&DebyePole::deps, &DebyePole::tau}) {
      const double found_here = (found.poles[p].*part)[y][edge];
      if (model.medium.poles[p].tau[y][edge] == 0) {  // no pole
        EXPECT_EQ(found_here, 0) << "pole " << p;
        continue;
      }
      const double value = (model.medium.poles[p].*part)[y][edge], h = 1e-4 * (value > 0 ? value : 1);
      GprmaxModel up = model, down = model;
      (up.medium.poles[p].*part)[y][edge] += h;
      (down.medium.poles[p].*part)[y][edge] -= h;
      const double wanted = (misfit_of(up, observed) - misfit_of(down, observed)) / (2 * h);
      // The quotient loses the square of h = 1e-4 and four digits of a misfit of 16.
      EXPECT_NEAR(found_here, wanted, 1e-5 * std::abs(wanted)) << "pole " << p;
    }
}

class PolesOfGprmax : public ::testing::TestWithParam<std::pair<const char*, Triple>> {};

TEST_P(PolesOfGprmax, HaveTheDifferenceQuotientAsGradient) {
  expect_difference_quotient(make_gprmax_model(wet_soil()), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(Edges, PolesOfGprmax,
                         ::testing::Values(std::pair("soil", Triple{10, 10, 10}), std::pair("clay", Triple{7, 9, 11}),
                                           std::pair("surface", Triple{12, 10, 12}),
                                           std::pair("layer", Triple{8, 10, 2})),
                         [](const auto& each) { return std::string(each.param.first); });

TEST(PolesOfGprmax, OfNoWeightHaveAGradient) {
  GprmaxModel model = make_gprmax_model(wet_soil());
  const auto edge = static_cast<std::size_t>(Grid(model.grid).index(10, 10, 10));
  model.medium.poles[1].tau[1][edge] = 2e-11;
  expect_difference_quotient(model, {10, 10, 10});
}

}  // namespace
}  // namespace sonde::maxwell
