// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/reflections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::stem {
namespace {

constexpr double weakest = 1e-4;        // of the strongest |F|
constexpr double most_points = 200e3;   // of the lattice in the sphere
constexpr double same_axes = 1e-4;      // of the product of two axes: files give lengths with four digits
constexpr double same_factor = 5e-3;    // of the strongest |F|: coordinates such as 0.333
constexpr std::size_t compared = 2000;  // reflections, the shortest

Miller turned(const std::array<Miller, 3>& by, const Miller& hkl) {
  Miller made{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) made[i] += by[i][j] * hkl[j];
  return made;
}

/// Turns of the lattice of which each column is one of 27 short vectors.
std::vector<std::array<Miller, 3>> turns_of_lattice(const Mat3& reciprocal) {
  const Mat3 axes = transposed(reciprocal);  // rows a*, b*, c*
  std::vector<Miller> shorts;
  for (int h = -1; h <= 1; ++h)
    for (int k = -1; k <= 1; ++k)
      for (int l = -1; l <= 1; ++l) shorts.push_back({h, k, l});
  const auto same = [&](const Vec3& a, const Vec3& b, std::size_t i, std::size_t j) {
    return std::abs(dot(a, b) - dot(axes[i], axes[j])) < same_axes * length(axes[i]) * length(axes[j]);
  };
  std::vector<std::array<Miller, 3>> found;
  for (const Miller& first : shorts) {
    const Vec3 a = times(reciprocal, as_vector(first));
    if (!same(a, a, 0, 0)) continue;
    for (const Miller& second : shorts) {
      const Vec3 b = times(reciprocal, as_vector(second));
      if (!same(b, b, 1, 1) || !same(a, b, 0, 1)) continue;
      for (const Miller& third : shorts) {
        const Vec3 c = times(reciprocal, as_vector(third));
        if (!same(c, c, 2, 2) || !same(a, c, 0, 2) || !same(b, c, 1, 2)) continue;
        found.push_back(
            {{{first[0], second[0], third[0]}, {first[1], second[1], third[1]}, {first[2], second[2], third[2]}}});
      }
    }
  }
  return found;
}

/// Whether a proper turn of this many parts of a full one is among them.
bool has_turn(const std::vector<Mat3>& turns, int parts) {
  const double expected = 1 + 2 * std::cos(2 * std::numbers::pi / parts);
  return std::any_of(turns.begin(), turns.end(),
                     [&](const Mat3& turn) { return determinant(turn) > 0 && std::abs(trace(turn) - expected) < 0.1; });
}

}  // namespace

std::complex<double> structure_factor(const Crystal& crystal, const Miller& hkl) {
  const double g = length(times(crystal.cell.reciprocal_axes(), as_vector(hkl)));
  std::complex<double> sum = 0;
  for (const Atom& atom : crystal.atoms) {
    const double weight = electron_factor(atom.atomic_number, g) * atom.occupancy * std::exp(-atom.b * g * g / 4);
    sum += std::polar(1.0, 2 * std::numbers::pi * dot(as_vector(hkl), atom.position)) * weight;
  }
  return sum / crystal.cell.volume();
}

std::vector<Reflection> list_reflections(const Crystal& crystal, double k_max) {
  const double points = 4.0 / 3 * std::numbers::pi * k_max * k_max * k_max * crystal.cell.volume();
  if (!(points <= most_points))
    throw Error(ErrorKind::bad_input, fmt::format("{}: {:.3g} lattice points within {:g} 1/A; expected at most {:g}",
                                                  crystal.name, points, k_max, most_points))
        .hint("give a smaller " + setting("k_max"));
  const Mat3 reciprocal = crystal.cell.reciprocal_axes();
  const Mat3 axes = transposed(crystal.cell.axes());
  Miller most{};
  for (std::size_t i = 0; i < 3; ++i) most[i] = static_cast<int>(std::floor(k_max * length(axes[i])));
  std::vector<Reflection> made;
  for (int h = -most[0]; h <= most[0]; ++h)
    for (int k = -most[1]; k <= most[1]; ++k)
      for (int l = -most[2]; l <= most[2]; ++l) {
        const Vec3 g = times(reciprocal, as_vector({h, k, l}));
        if (const double of_g = length(g); of_g <= k_max && (h != 0 || k != 0 || l != 0))
          made.push_back({.hkl = {h, k, l}, .g = g, .length = of_g});
      }
  parallel_for(static_cast<Index>(made.size()), 256, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      Reflection& each = made[static_cast<std::size_t>(i)];
      each.factor = structure_factor(crystal, each.hkl);
    }
  });
  // Where all are extinct the largest is rounding.
  double strongest = 1e-9 * std::abs(structure_factor(crystal, {0, 0, 0}));
  for (const Reflection& each : made) strongest = std::max(strongest, std::abs(each.factor));
  std::erase_if(made, [&](const Reflection& each) { return std::abs(each.factor) < weakest * strongest; });
  if (made.empty())
    throw Error(ErrorKind::bad_input, fmt::format("{}: no reflection within {:g} 1/A", crystal.name, k_max))
        .hint("give a larger " + setting("k_max"));
  std::sort(made.begin(), made.end(), [](const Reflection& a, const Reflection& b) {
    return std::tie(a.length, a.hkl) < std::tie(b.length, b.hkl);
  });
  return made;
}

std::string PointGroup::symbol() const {
  switch (order()) {
    case 2:
      return "-1";
    case 4:
      return "2/m";
    case 6:
      return "-3";
    case 8:
      return has_turn(cartesian, 4) ? "4/m" : "mmm";
    case 12:
      return has_turn(cartesian, 6) ? "6/m" : "-3m";
    case 16:
      return "4/mmm";
    case 24:
      return has_turn(cartesian, 6) ? "6/mmm" : "m-3";
    case 48:
      return "m-3m";
    default:
      return {};
  }
}

std::vector<Mat3> PointGroup::proper() const {
  std::vector<Mat3> made;
  for (const Mat3& turn : cartesian)
    if (determinant(turn) > 0) made.push_back(turn);
  return made;
}

PointGroup find_point_group(const Crystal& crystal, const std::vector<Reflection>& reflections) {
  std::map<Miller, double> magnitudes;
  double strongest = 0, longest = 0;
  for (const Reflection& each : reflections) {
    magnitudes[each.hkl] = std::abs(each.factor);
    strongest = std::max(strongest, std::abs(each.factor));
    longest = std::max(longest, each.length);
  }
  const auto magnitude = [&](const Miller& hkl) {
    const auto found = magnitudes.find(hkl);
    return found == magnitudes.end() ? 0.0 : found->second;
  };
  const Mat3 reciprocal = crystal.cell.reciprocal_axes(), back = inverse(reciprocal);
  PointGroup group;
  for (const std::array<Miller, 3>& turn : turns_of_lattice(reciprocal)) {
    bool kept = true;
    for (std::size_t i = 0; kept && i < std::min(compared, reflections.size()); ++i) {
      // Of the longest ones an equal one may be missing by rounding.
      if (reflections[i].length > longest * (1 - 2 * same_axes)) break;
      kept = std::abs(magnitude(turned(turn, reflections[i].hkl)) - magnitude(reflections[i].hkl)) <=
             same_factor * strongest;
    }
    if (!kept) continue;
    group.miller.push_back(turn);
    group.cartesian.push_back(
        times(times(reciprocal, Mat3{as_vector(turn[0]), as_vector(turn[1]), as_vector(turn[2])}), back));
  }
  return group;
}

std::vector<Family> families_of(const std::vector<Reflection>& reflections, const PointGroup& group) {
  std::map<Miller, Family> found;
  for (const Reflection& each : reflections) {
    Miller largest = each.hkl;
    for (const std::array<Miller, 3>& turn : group.miller) largest = std::max(largest, turned(turn, each.hkl));
    Family& family = found[largest];
    family.hkl = largest;
    family.length = each.length;
    family.magnitude = std::max(family.magnitude, std::abs(each.factor));
    ++family.multiplicity;
  }
  std::vector<Family> made;
  for (const auto& [hkl, family] : found) made.push_back(family);
  std::sort(made.begin(), made.end(), [](const Family& a, const Family& b) {
    // Lengths that differ by rounding are equal.
    return std::abs(a.length - b.length) > 1e-9 ? a.length < b.length : a.hkl > b.hkl;
  });
  return made;
}

}  // namespace sonde::stem
