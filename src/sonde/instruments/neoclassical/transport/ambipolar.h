// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::neoclassical {

/// Which of the stable roots is taken: the one of least integral of the current over E_r, the lowest, or the highest.
enum class RootChoice { least_entropy_production, ion, electron };

struct AmbipolarOptions {
  double lowest = -50e3, highest = 50e3;  ///< V/m
  Index points = 300;                     ///< of the coarse grid: roots closer than a step may be missed in pairs
  double tolerance = 1e-6;                ///< of a root, relative to the step of the grid
  RootChoice choice = RootChoice::least_entropy_production;

  [[nodiscard]] double step() const { return (highest - lowest) / static_cast<double>(points - 1); }
};

/// A field where no current crosses the surface. It is stable where the current rises with the field.
struct AmbipolarRoot {
  enum class Class { ion, electron, unstable };
  double E_r = 0;
  double slope = 0;  ///< d(current)/dE_r
  Class kind = Class::ion;
  double work = 0;         ///< the integral of the current over E_r from the first root to this
  double uncertainty = 0;  ///< V/m: how far it might lie elsewhere for what the theory leaves out, where that is known

  /// It says nothing about the plasma.
  [[nodiscard]] bool doubtful() const { return uncertainty > 0.5 * std::abs(E_r); }
};

struct AmbipolarRoots {
  std::vector<AmbipolarRoot> roots;   ///< of increasing field
  std::optional<std::size_t> chosen;  ///< nothing without a stable root
};

/// Classes and choice by slopes, works and uncertainties, among the stable roots that are not doubtful; a doubtful one
/// is ion or electron root by the sign of its field.
void settle(AmbipolarRoots& found, RootChoice choice);

/// A point of the search.
struct CurrentSample {
  double E_r = 0, current = 0;
};

/// All roots of current(E_r) = sum_a q_a Gamma_a on the range: signs on a grid, each change refined by Brent's method.
/// Of two or more stable roots the highest is the electron root, the others are ion roots; a single one is an electron
/// root where E_r > 0. Throws Error(bad_input) for an empty range, fewer than two points, or a current that is not
/// finite, naming the field.
[[nodiscard]] AmbipolarRoots ambipolar_roots(const std::function<double(double)>& current,
                                             const AmbipolarOptions& options);

/// What it is made of. The fields of the grid, increasing; throws as above.
[[nodiscard]] std::vector<double> search_grid(const AmbipolarOptions& options);

/// The roots between samples, increasing in E_r, of which `refined` finds each and its slope between two of opposite
/// sign; `slope_at` is that at a sample of no current. Classes and choice as above.
[[nodiscard]] AmbipolarRoots roots_between(
    const std::vector<CurrentSample>& samples,
    const std::function<AmbipolarRoot(const CurrentSample&, const CurrentSample&)>& refined,
    const std::function<double(double)>& slope_at, RootChoice choice);

/// Brent (1973), chapter 4: the root between two samples of opposite sign, in V/m within `tolerance`.
[[nodiscard]] double brent_root(const std::function<double(double)>& current, CurrentSample a, CurrentSample b,
                                double tolerance);

}  // namespace sonde::neoclassical
