// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/kinematic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "sonde/engine/math/wavelength.h"
#include "sonde/instruments/stem/orient/test_crystals.h"

namespace sonde::stem {
namespace {

const double at_200_kv = electron_wavelength(200);

std::map<Miller, KinematicSpot> by_index(const std::vector<Reflection>& reflections,
                                         const std::vector<KinematicSpot>& pattern) {
  std::map<Miller, KinematicSpot> found;
  for (const KinematicSpot& spot : pattern) found[reflections[spot.reflection].hkl] = spot;
  return found;
}

TEST(Kinematic, ExcitationErrorMovesAReflectionOntoEwaldsSphere) {
  const Vec3 g{0.5, -0.8, 0.03};
  const double s = excitation_error(g, at_200_kv);
  // Along g + k, as the formula has it (Zuo and Spence 2017): to the order of s^2 on the sphere.
  const Vec3 k{0, 0, -1 / at_200_kv};
  const Vec3 wave = sum(g, k);
  EXPECT_NEAR(length(sum(wave, scaled(s / length(wave), wave))) * at_200_kv, 1, 1e-5);
  EXPECT_LT(excitation_error({1, 0, 0}, at_200_kv), 0);  // outside the sphere, which bends toward the source
}

TEST(Kinematic, AZoneAxisShowsItsPlaneWithXAlongTheShortest) {
  const Crystal crystal = gold();
  const std::vector<Reflection> reflections = list_reflections(crystal, 1.2);
  const Orientation orientation = orientation_of_zone(crystal, reflections, {0, 0, 1});
  EXPECT_NEAR(determinant(orientation), 1, 1e-14);
  const auto spots = by_index(reflections, kinematic_pattern(reflections, orientation, {.wavelength = at_200_kv}));
  ASSERT_TRUE(spots.contains({2, 0, 0}) && spots.contains({0, 2, 0}) && spots.contains({2, 2, 0}));
  EXPECT_FALSE(spots.contains({1, 1, 1}));  // 0.245 from the plane
  const double step = 2 / 4.078;
  EXPECT_NEAR(spots.at({2, 0, 0}).x, step, 1e-12);
  EXPECT_NEAR(spots.at({2, 0, 0}).y, 0, 1e-12);
  EXPECT_NEAR(spots.at({0, 2, 0}).x, 0, 1e-12);
  EXPECT_NEAR(spots.at({0, 2, 0}).y, step, 1e-12);
  const double s = at_200_kv * step * step / 2;
  EXPECT_NEAR(spots.at({2, 0, 0}).intensity,
              std::norm(structure_factor(crystal, {2, 0, 0})) * std::exp(-s * s / (2 * 0.02 * 0.02)), 1e-12);
}

TEST(Kinematic, PrecessionByNothingChangesNothingAndByMoreReachesFarther) {
  const Crystal crystal = gold();
  const std::vector<Reflection> reflections = list_reflections(crystal, 1.8);
  const Orientation orientation = orientation_of_zone(crystal, reflections, {1, 1, 1});
  const KinematicBeam still{.wavelength = at_200_kv};
  KinematicBeam barely = still, wide = still;
  barely.precession = 1e-9;
  wide.precession = 0.03;
  const auto a = by_index(reflections, kinematic_pattern(reflections, orientation, still));
  const auto b = by_index(reflections, kinematic_pattern(reflections, orientation, barely));
  ASSERT_EQ(a.size(), b.size());
  // Both formulas agree to the order of s / k: 1e-3 of s, which is at most 3 sigma.
  for (const auto& [hkl, spot] : a) EXPECT_NEAR(spot.intensity, b.at(hkl).intensity, 0.01 * spot.intensity);
  EXPECT_GT(kinematic_pattern(reflections, orientation, wide).size(), a.size());
  // Six equal reflections of a sixfold pattern stay equal: 72 azimuths are a multiple of six.
  const auto c = by_index(reflections, kinematic_pattern(reflections, orientation, wide));
  EXPECT_NEAR(c.at({2, -2, 0}).intensity, c.at({0, 2, -2}).intensity, 1e-12);
}

// The mean over 72 azimuths in the axes of the detector, with vectors and the sphere's own equation solved for s by
// Newton's method.
double mean_by_vectors(const Vec3& g, double precession) {
  double total = 0;
  for (int i = 0; i < 72; ++i) {
    const double p = 2 * std::numbers::pi * i / 72, wave = 1 / at_200_kv;
    const Vec3 k{-wave * std::sin(precession) * std::cos(p), -wave * std::sin(precession) * std::sin(p),
                 -wave * std::cos(precession)};
    double s = 0;
    for (int step = 0; step < 20; ++step) {
      const Vec3 there = sum(sum(g, k), {0, 0, -s});
      s += (dot(there, there) - dot(k, k)) / (2 * there[2]);
    }
    if (std::abs(s) <= 3 * 0.02) total += std::exp(-s * s / (2 * 0.02 * 0.02));
  }
  return total / 72;
}

TEST(Kinematic, PrecessedWeightIsTheMeanOverAzimuthsWithItsDerivatives) {
  for (const double degrees : {0.3, 1.0, 2.0})
    for (const Vec3& g : {Vec3{0.45, 0.2, 0.01}, Vec3{-0.3, 0.9, 0.02}, Vec3{1.2, -0.6, -0.01}, Vec3{0.02, 0, 0.03}}) {
      SCOPED_TRACE(degrees);
      const KinematicBeam beam{.wavelength = at_200_kv, .precession = degrees * std::numbers::pi / 180};
      const double size = length(g), step = 1e-6;
      const PrecessedWeight mean = precessed_weight(size, g[2], beam);
      // Azimuths of the two begin elsewhere: the sums of 72 differ by what one of them is where |s| is 3 sigma,
      // exp(-4.5).
      EXPECT_NEAR(mean.value, mean_by_vectors(g, beam.precession), std::exp(-4.5) * 2 / 72);
      const PrecessedWeight above = precessed_weight(size, g[2] + step, beam),
                            below = precessed_weight(size, g[2] - step, beam);
      // Third derivatives are of the order 1 / sigma^3, rounding is 1e-16 / step over the second: both 1e-6 of a slope.
      EXPECT_NEAR(mean.first, (above.value - below.value) / (2 * step), 1e-4);
      EXPECT_NEAR(mean.second, (above.first - below.first) / (2 * step), 1e-2);
    }
}

}  // namespace
}  // namespace sonde::stem
