// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/moveout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/instruments/maxwell/field/field_files.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

constexpr double pulse_frequency = 1e8;

/// Ricker pulses of 100 MHz where a direct wave of 0.2 m/ns and reflections of these layers arrive, with their middle
/// 20 ns after the times.
FieldLine gather_of(const std::vector<Layer>& layers) {
  FieldLine made{.traces = 60, .samples = 600, .dt = 0.4e-9, .nominal_frequency = pulse_frequency};
  made.values.resize(static_cast<std::size_t>(made.traces * made.samples));
  const auto add = [&](Index trace, double time, double size) {
    for (Index n = 0; n < made.samples; ++n) {
      const double phase = std::numbers::pi * pulse_frequency * (static_cast<double>(n) * made.dt - 20e-9 - time);
      made.trace(trace)[n] += static_cast<float>(size * (1 - 2 * phase * phase) * std::exp(-phase * phase));
    }
  };
  for (Index i = 0; i < made.traces; ++i) {
    made.positions.push_back(0.5 + 0.2 * static_cast<double>(i));
    add(i, made.positions.back() / 0.2e9, 1);
    for (std::size_t k = 1; k <= layers.size(); ++k)
      add(i, reflection_time({layers.begin(), layers.begin() + static_cast<Index>(k)}, made.positions.back()), 0.5);
  }
  return made;
}

TEST(Layers, ComeFromVelocitiesByDix) {
  const double t1 = 40e-9, t2 = 100e-9, v1 = 0.12e9, v2 = 0.08e9;
  const double both = std::sqrt((v1 * v1 * t1 + v2 * v2 * (t2 - t1)) / t2);
  const std::vector<Layer> layers = layers_of({{t1, v1}, {t2, both}});
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_NEAR(layers[0].thickness, 2.4, 1e-12);
  EXPECT_NEAR(layers[1].velocity, v2, 1e-6);
  EXPECT_NEAR(layers[1].thickness, 2.4, 1e-12);
}

TEST(ReflectionTime, IsAHyperbolaOfOneLayer) {
  for (const double x : {0.0, 1.0, 30.0})
    EXPECT_NEAR(reflection_time({{0.1e9, 2}}, x), std::hypot(4, x) / 0.1e9, 1e-21 + 1e-12 * x / 0.1e9);
}

/// Along a ray of horizontal slowness p of two layers: distance and time in closed form.
TEST(ReflectionTime, FollowsSnell) {
  const std::vector<Layer> layers{{0.12e9, 2}, {0.07e9, 3}};
  const double p = 0.9 / 0.12e9;
  double distance = 0, time = 0;
  for (const Layer& each : layers) {
    const double sine = p * each.velocity, cosine = std::sqrt(1 - sine * sine);
    distance += 2 * each.thickness * sine / cosine;
    time += 2 * each.thickness / (each.velocity * cosine);
  }
  EXPECT_NEAR(reflection_time(layers, distance), time, 1e-12 * time);
}

TEST(DirectWave, IsThatOfTheFirstArrivals) {
  const DirectWave found = direct_wave(gather_of({{0.1e9, 4}}));
  // Steps of the search: 0.25 % of the velocity, and what that is after 12 m.
  EXPECT_NEAR(found.velocity, 0.2e9, 0.005 * 0.2e9);
  EXPECT_NEAR(found.centre, 20e-9, 0.3e-9);
}

TEST(Reflections, GiveTheLayersOfPulsesPlacedByHand) {
  const std::vector<Layer> wanted{{0.1e9, 3}, {0.07e9, 2.5}};
  const FieldLine gather = gather_of(wanted);
  const std::vector<Reflection> found = reflections(gather, 20e-9);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_GT(found[0].semblance, 0.6);
  const LayerFit fit = fit_layers(gather, 20e-9, found);
  EXPECT_LT(fit.after, 0.6 * fit.before);
  EXPECT_LT(fit.after, gather.dt);
  for (std::size_t k = 0; k < 2; ++k) {
    // Shifts are measured to a twelfth of a period, 0.8 ns; over the distances used a second layer that is 5 % slower
    // delays its reflection by 1 ns.
    EXPECT_NEAR(fit.layers[k].velocity, wanted[k].velocity, 0.05 * wanted[k].velocity);
    EXPECT_NEAR(fit.layers[k].thickness, wanted[k].thickness, 0.05 * wanted[k].thickness);
  }
}

/// Sensors & Software, 100 MHz, distances of 0 to 16.3 m.
TEST(Reflections, GiveLayersOfAMeasuredGather) {
  SONDE_NEED_DATA(data);
  const FieldLine gather = read_field_line((data / "maxwell/field/SnS/WARR/XLINE00.DT1").string());
  const DirectWave air = direct_wave(gather);
  EXPECT_NEAR(air.velocity, c0, 0.02 * c0);
  const std::vector<Reflection> found = reflections(gather, air.centre);
  ASSERT_GE(found.size(), 2U);
  // The strongest, 88 ns: eps_r 10 on the mean, 4.1 m deep.
  const auto strongest = std::ranges::max_element(found, {}, &Reflection::semblance);
  EXPECT_GT(strongest->semblance, 0.6);
  EXPECT_NEAR(strongest->velocity, c0 / std::sqrt(10), 0.05 * c0 / std::sqrt(10));
  const LayerFit fit = fit_layers(gather, air.centre, found);
  EXPECT_LT(fit.after, fit.before);
}

TEST(Gathers, NeedDistancesThatRise) {
  FieldLine gather = gather_of({{0.1e9, 4}});
  gather.positions[7] = 0;
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)direct_wave(gather); }),
            "error: gather: 60 traces and 60 positions; expected at least 16, of rising distances from 0 on");
}

TEST(Gathers, NeedEnoughTimes) {
  const FieldLine gather = gather_of({{0.1e9, 4}});
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] {
                                         (void)fit_layers(gather, 20e-9, {{1e-9, 0.1e9}, {2e-9, 0.1e9}});
                                       }),
              ::testing::HasSubstr("times of reflections for 2 layers; expected at least 8"));
}

}  // namespace
}  // namespace sonde::maxwell
