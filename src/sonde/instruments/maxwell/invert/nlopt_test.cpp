// SPDX-License-Identifier: Apache-2.0
// An independent optimiser on the misfit that an inversion minimises.
#include <gtest/gtest.h>
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "sonde/instruments/maxwell/invert/inversion.h"
#include "sonde/instruments/maxwell/invert/test_waves.h"

namespace sonde::maxwell {
namespace {

using testing::ConvolvedWaves;
using testing::random_numbers;

/// Curved records of a model that is partly outside the bounds, with noise: the minimum is at bounds and not zero.
struct BoundedMisfit {
  static constexpr std::size_t cells = ConvolvedWaves::cell_count;
  ConvolvedWaves waves{0.03};
  Measurements measured;
  Parameters parameters{waves.grid(),
                        {.sigma = true, .eps_r_bounds = {3.5, 6.5}, .sigma_bounds = {0.005, 0.02}, .sigma0 = 5e-3},
                        {.eps_r = std::vector<double>(cells, 5.0), .sigma = std::vector<double>(cells, 0.01)},
                        {}};
  Misfit misfit{{}, ConvolvedWaves::step_count};

  BoundedMisfit() {
    for (unsigned s = 0; s < ConvolvedWaves::shot_count; ++s)
      measured.amplitudes.push_back(random_numbers(ConvolvedWaves::step_count, 31 + s));
    const Model wanted{.eps_r = random_numbers(cells, 21, 3, 8), .sigma = random_numbers(cells, 22, 0.001, 0.03)};
    for (Gather& gather : waves.measured(wanted, measured.amplitudes)) {
      const auto noise = random_numbers(gather.samples.size(), 41 + static_cast<unsigned>(measured.shots.size()));
      for (std::size_t i = 0; i < noise.size(); ++i) gather.samples[i] += noise[i];
      measured.shots.push_back({std::move(gather)});
    }
  }

  double operator()(std::span<const double> numbers, double* gradient) {
    std::vector<ShotSignals> shots;
    for (std::size_t s = 0; s < measured.amplitudes.size(); ++s)
      shots.push_back({static_cast<Index>(s), measured.amplitudes[s]});
    const std::vector<double> fields = parameters.fields(numbers);
    const MisfitGradient found = waves.gradient(
        parameters.model(fields), shots,
        [&](Index s, const Gather& computed) {
          return misfit(computed, measured.shots[static_cast<std::size_t>(s)].records, {});
        },
        Illumination::skipped);
    if (gradient != nullptr)
      std::ranges::copy(parameters.by_numbers(parameters.by_fields(fields, found.gradient)), gradient);
    return found.value;
  }
};

double value_for_nlopt(unsigned count, const double* numbers, double* gradient, void* misfit) {
  return (*static_cast<BoundedMisfit*>(misfit))({numbers, count}, gradient);
}

std::vector<double> minimum_by_nlopt(nlopt_algorithm algorithm, BoundedMisfit& misfit) {
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> of(
      nlopt_create(algorithm, static_cast<unsigned>(misfit.parameters.count())), &nlopt_destroy);
  const Bounds<double> bounds = misfit.parameters.bounds();
  nlopt_set_lower_bounds(of.get(), bounds.lower.data());
  nlopt_set_upper_bounds(of.get(), bounds.upper.data());
  nlopt_set_min_objective(of.get(), value_for_nlopt, &misfit);
  nlopt_set_ftol_rel(of.get(), 1e-14);
  nlopt_set_maxeval(of.get(), 5000);
  std::vector<double> numbers = misfit.parameters.start();
  double value = 0;
  // Rounding ends a search too (NLOPT_ROUNDOFF_LIMITED, below 0): the model is compared, and not how it stopped.
  nlopt_optimize(of.get(), numbers.data(), &value);
  return numbers;
}

class InversionBesideNlopt : public ::testing::TestWithParam<nlopt_algorithm> {};

TEST_P(InversionBesideNlopt, EndsAtTheSameModelWithinBounds) {
  BoundedMisfit misfit;
  const std::vector<double> wanted = minimum_by_nlopt(GetParam(), misfit);
  Inversion inversion(misfit.waves, misfit.measured, misfit.parameters,
                      {.stages = {{.iterations = 200}}, .exit = {.change = 0, .gradient = 1e-9}});
  inversion.run();
  const Model found = inversion.model(), other = misfit.parameters.model(misfit.parameters.fields(wanted));
  // A misfit that is flat to 1e-14 leaves the square root of it, 1e-7, of numbers of about 5; ten times that for the
  // spread of the eigenvalues.
  for (std::size_t i = 0; i < BoundedMisfit::cells; ++i) {
    EXPECT_NEAR(found.eps_r[i], other.eps_r[i], 5e-6) << i;
    EXPECT_NEAR(found.sigma[i], other.sigma[i], 5e-6 * 5e-3) << i;
  }
  EXPECT_GT(std::ranges::count(found.eps_r, 6.5) + std::ranges::count(found.eps_r, 3.5), 0);
  EXPECT_LT(std::ranges::count(found.eps_r, 6.5) + std::ranges::count(found.eps_r, 3.5), 8);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, InversionBesideNlopt, ::testing::Values(NLOPT_LD_LBFGS, NLOPT_LD_MMA),
                         [](const auto& each) { return each.param == NLOPT_LD_MMA ? "Mma" : "Lbfgs"; });

}  // namespace
}  // namespace sonde::maxwell
