// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/kinematic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace sonde::stem {
namespace {

// Azimuths p and -p of a circle of 72 have the same excitation error.
constexpr int half_circle = 36;

std::array<double, half_circle + 1> cosines_of_azimuths() {
  std::array<double, half_circle + 1> cosines{};
  for (int i = 0; i <= half_circle; ++i)
    cosines[static_cast<std::size_t>(i)] = std::cos(std::numbers::pi * i / half_circle);
  return cosines;
}

double mean_weight(const Vec3& g, double length, const KinematicBeam& beam) {
  if (beam.precession != 0) return precessed_weight(length, g[2], beam).value;
  const double error = excitation_error(g, beam.wavelength), sigma = beam.sigma_excitation_error;
  return std::abs(error) <= widest_excitation * sigma ? std::exp(-error * error / (2 * sigma * sigma)) : 0;
}

}  // namespace

double excitation_error(const Vec3& g, double wavelength) {
  return (2 * g[2] - wavelength * dot(g, g)) / (2 - 2 * wavelength * g[2]);
}

PrecessedWeight precessed_weight(double length, double g_z, const KinematicBeam& beam) {
  static const std::array<double, half_circle + 1> cosines = cosines_of_azimuths();
  const double wave = 1 / beam.wavelength, sine = std::sin(beam.precession), cosine = std::cos(beam.precession);
  const double across = std::sqrt(std::max(0.0, length * length - g_z * g_z));
  // s^2 + 2 a s + b = 0 with a = (g + k).n and b = (g + 2k).g, which is least at one of two azimuths.
  const double a = wave * cosine - g_z, middle = length * length - 2 * wave * cosine * g_z;
  const double spread = 2 * wave * sine * across, limit = widest_excitation * beam.sigma_excitation_error;
  const auto error = [a](double b) { return std::sqrt(std::max(0.0, a * a - b)) - a; };
  if (error(middle + spread) > limit || error(middle - spread) < -limit) return {};
  // Derivatives of the part of g across the beam; where there is none, all azimuths are the same.
  const double bend = across > 0 ? -g_z / across : 0, bend2 = across > 0 ? -(1 + bend * bend) / across : 0;
  const double falls = -1 / (2 * beam.sigma_excitation_error * beam.sigma_excitation_error);
  PrecessedWeight mean;
  for (int i = 0; i <= half_circle; ++i) {
    const double c = sine * cosines[static_cast<std::size_t>(i)];
    const double s = error(middle - 2 * wave * c * across);
    if (std::abs(s) > limit) continue;
    const double root = s + a;
    const double s1 = (s + wave * (cosine + c * bend)) / root, s2 = (s1 * (2 - s1) + wave * c * bend2) / root;
    const double share = (i == 0 || i == half_circle ? 0.5 : 1.0) / half_circle, w = share * std::exp(falls * s * s);
    const double slope = 2 * falls * s * s1;
    mean.value += w;
    mean.first += w * slope;
    mean.second += w * (slope * slope + 2 * falls * (s1 * s1 + s * s2));
  }
  return mean;
}

std::vector<KinematicSpot> kinematic_pattern(const std::vector<Reflection>& reflections, const Orientation& orientation,
                                             const KinematicBeam& beam) {
  const Mat3 to_detector = transposed(orientation);
  std::vector<KinematicSpot> spots;
  for (std::size_t i = 0; i < reflections.size(); ++i) {
    const Vec3 g = times(to_detector, reflections[i].g);
    const double intensity = std::norm(reflections[i].factor) * mean_weight(g, reflections[i].length, beam);
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
