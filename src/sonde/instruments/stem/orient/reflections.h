// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/orient/crystal.h"

namespace sonde::stem {

using Miller = std::array<int, 3>;
[[nodiscard]] inline Vec3 as_vector(const Miller& hkl) {
  return {static_cast<double>(hkl[0]), static_cast<double>(hkl[1]), static_cast<double>(hkl[2])};
}

struct Reflection {
  Miller hkl{};
  Vec3 g{};           ///< 1/A, in the Cartesian axes of UnitCell
  double length = 0;  ///< 1/d
  std::complex<double> factor{};
};

/// (1/V) sum over atoms of f occupancy exp(-b g^2/4) exp(2 pi i hkl.x), in 1/A^2.
[[nodiscard]] std::complex<double> structure_factor(const Crystal& crystal, const Miller& hkl);

/// All but 000 with 1/d up to k_max (1/A) and a structure factor of 1e-4 of the largest or more, the shortest first.
/// Throws Error(bad_input) where a sphere of this radius has none, or more than 200,000 points of the lattice.
[[nodiscard]] std::vector<Reflection> list_reflections(const Crystal& crystal, double k_max);

/// The point group of the intensities, found from these: operations that keep the lengths of the reciprocal axes and
/// every |F|. It has the inversion. Turns of Miller indices, hkl' = M hkl, and the same in Cartesian axes.
struct PointGroup {
  std::vector<std::array<Miller, 3>> miller;
  std::vector<Mat3> cartesian;

  [[nodiscard]] std::size_t order() const { return miller.size(); }
  /// The symbol of the Laue group: "m-3m". Empty for a group that is none, of a cell that is nearly of higher symmetry.
  [[nodiscard]] std::string symbol() const;
  /// Those without a mirror, of which there are half as many.
  [[nodiscard]] std::vector<Mat3> proper() const;
};
[[nodiscard]] PointGroup find_point_group(const Crystal& crystal, const std::vector<Reflection>& reflections);

/// Reflections that the point group makes equal.
struct Family {
  Miller hkl{};  ///< the one with the largest indices, h first
  double length = 0;
  double magnitude = 0;  ///< |F|
  Index multiplicity = 0;
};
/// The shortest first.
[[nodiscard]] std::vector<Family> families_of(const std::vector<Reflection>& reflections, const PointGroup& group);

}  // namespace sonde::stem
