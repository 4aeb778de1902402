// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/kinematic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

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

}  // namespace
}  // namespace sonde::stem
