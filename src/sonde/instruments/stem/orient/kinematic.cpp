// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/kinematic.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sonde::stem {
namespace {

constexpr int azimuths = 72;

/// The same for an incident wave k, measured along (0, 0, -1): the root of |g + k + s n|^2 = |k|^2.
double tilted_error(const Vec3& g, const Vec3& k) {
  const double along = -(g[2] + k[2]);
  const double beyond = dot(sum(g, scaled(2, k)), g);
  return std::sqrt(std::max(0.0, along * along - beyond)) - along;
}

double weight(double error, double sigma) {
  return std::abs(error) <= widest_excitation * sigma ? std::exp(-error * error / (2 * sigma * sigma)) : 0;
}

double mean_weight(const Vec3& g, const KinematicBeam& beam) {
  if (beam.precession == 0) return weight(excitation_error(g, beam.wavelength), beam.sigma_excitation_error);
  double total = 0;
  for (int i = 0; i < azimuths; ++i) {
    const double p = 2 * std::numbers::pi * i / azimuths, t = beam.precession;
    const Vec3 k = scaled(-1 / beam.wavelength, {std::sin(t) * std::cos(p), std::sin(t) * std::sin(p), std::cos(t)});
    total += weight(tilted_error(g, k), beam.sigma_excitation_error);
  }
  return total / azimuths;
}

}  // namespace

double excitation_error(const Vec3& g, double wavelength) {
  return (2 * g[2] - wavelength * dot(g, g)) / (2 - 2 * wavelength * g[2]);
}

std::vector<KinematicSpot> kinematic_pattern(const std::vector<Reflection>& reflections, const Orientation& orientation,
                                             const KinematicBeam& beam) {
  const Mat3 to_detector = transposed(orientation);
  std::vector<KinematicSpot> spots;
  for (std::size_t i = 0; i < reflections.size(); ++i) {
    const Vec3 g = times(to_detector, reflections[i].g);
    const double intensity = std::norm(reflections[i].factor) * mean_weight(g, beam);
    if (intensity > 0) spots.push_back({.reflection = i, .x = g[0], .y = g[1], .intensity = intensity});
  }
  return spots;
}

Orientation orientation_of_zone(const Crystal& crystal, const std::vector<Reflection>& reflections,
                                const Miller& zone) {
  const auto inner = [&](const Miller& hkl) { return hkl[0] * zone[0] + hkl[1] * zone[1] + hkl[2] * zone[2]; };
  const Vec3 z = normalised(times(crystal.cell.axes(), as_vector(zone)));
  const auto across = [&](const Reflection& each) { return inner(each.hkl) == 0; };
  // Of equally long ones the largest indices, so that x is along 200 and not along -200.
  const Reflection* chosen = nullptr;
  for (const Reflection& each : reflections)
    if (across(each) && (chosen == nullptr || each.length < chosen->length - 1e-9 ||
                         (each.length < chosen->length + 1e-9 && each.hkl > chosen->hkl)))
      chosen = &each;
  Vec3 x = chosen != nullptr ? chosen->g : reflections.front().g;
  x = sum(x, scaled(-dot(x, z), z));
  // A reflection along the beam has no projection.
  if (length(x) < 1e-9) x = cross(z, std::abs(z[0]) < 0.9 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
  x = normalised(x);
  return transposed({x, cross(z, x), z});
}

}  // namespace sonde::stem
