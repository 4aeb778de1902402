// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sonde/instruments/ptycho/model/test_scene.h"

namespace sonde::ptycho {
namespace {

using testing::Scene;
using testing::Wave;

/// Where f is least in [0, 1]: golden section, f having one minimum.
double lowest(const std::function<double(double)>& f) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double a = 0, b = 1;
  while (b - a > 1e-9) {
    const double x = b - golden * (b - a), y = a + golden * (b - a);
    (f(x) < f(y) ? b : a) = f(x) < f(y) ? y : x;
  }
  return (a + b) / 2;
}

/// How near the model is: counts within this share of its intensity.
class PoissonStep : public ::testing::TestWithParam<std::pair<double, double>> {};
INSTANTIATE_TEST_SUITE_P(FromNearAndFar, PoissonStep,
                         // The fixed point is reached quadratically when near; far from the fit it is a good guess.
                         ::testing::Values(std::pair(0.1, 1e-5), std::pair(0.5, 2e-3), std::pair(1.0, 2e-2)));

TEST_P(PoissonStep, MakesTheLikelihoodLargestAlongItsGradient) {
  const auto [deviation, tolerance] = GetParam();
  Scene scene{.modes = 2, .masked = true};
  scene.build();
  std::mt19937 generator(9);
  std::uniform_real_distribution<double> uniform(1 - deviation, 1 + deviation);
  std::vector<std::vector<double>> intensity(5);
  for (Index j = 0; j < 5; ++j) {
    const Wave first = scene.far_field(j, 0), second = scene.far_field(j, 1);
    for (std::size_t i = 0; i < first.size(); ++i) {
      intensity[static_cast<std::size_t>(j)].push_back(std::norm(first[i]) + std::norm(second[i]));
      scene.frames.view<double, 3>().data[j * scene.pixels() + static_cast<Index>(i)] =
          uniform(generator) * intensity[static_cast<std::size_t>(j)].back();
    }
  }
  const Measurement measurement(scene.frames, ZeroFrequency::corner, scene.mask, AmplitudeStorage::f64);
  const Model<double> model(measurement, 1, 2, {}, Loss::poisson, FftEffort::quick);
  Exposure<double> exposure(model);
  for (Index j = 0; j < 5; ++j) {
    exposure.forward(scene.state, {}, j);
    const double best = lowest([&](double alpha) {
      double loss = 0;
      for (std::size_t i = 0; i < scene.mask.size(); ++i) {
        if (scene.mask[i] == 0) continue;
        const double counts = scene.frames.view<double, 3>().data[j * scene.pixels() + static_cast<Index>(i)];
        const double before = intensity[static_cast<std::size_t>(j)][i];
        const double after = before * std::pow(1 - alpha * (1 - counts / before), 2);
        loss += after - counts * std::log(after);
      }
      return loss;
    });
    EXPECT_NEAR(exposure.poisson_step(j), best, tolerance);
    EXPECT_GT(best, 0.2);
    EXPECT_LT(best, 0.9);
  }
}

}  // namespace
}  // namespace sonde::ptycho
