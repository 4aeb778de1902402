// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::neoclassical {

/// How the block-tridiagonal system is eliminated. The numbers are those of `path_code` in files.
enum class Path {
  dense = 0,          ///< LU of every block: any case
  spd = 1,            ///< Cholesky: E_hat = 0 and `skew`
  quasidefinite = 2,  ///< Cholesky of even and odd parts: E_hat != 0, `skew` and stellarator symmetry
  krylov = 3,         ///< of weak fields where quasidefinite would do: from the factors of E_hat = 0
};

[[nodiscard]] std::string_view name(Path path);
/// Throws Error(bad_input) naming the paths that can be asked for: all but `krylov`.
[[nodiscard]] Path path_named(std::string_view name);

/// What the blocks are factorised in. The numbers are those of `precision_code` in files.
enum class Precision {
  f64 = 0,
  f32_refine = 1,  ///< float32; the solution is refined in float64 until it is as good as that of f64
};

/// "f64", "f32-refine".
[[nodiscard]] std::string_view name(Precision precision);

/// Monoenergetic coefficients of one surface at one (nu_hat, E_hat), per radial label r with dpsi/dr of the surface.
struct Coefficients {
  double D11 = 0, D31 = 0, D13 = 0, D33 = 0;
  double D33_spitzer = 0;       ///< D33 of a uniform field: 2 <B^2> / (3 nu_hat B0^2)
  double residual = 0;          ///< the largest of what is left of the rows k = 0, 1, 2, relative to the largest source
  double onsager_residual = 0;  ///< |D13 + D31| / max(|D13|, |D31|)
  Path path = Path::dense;
  Index n_xi = 0;  ///< the largest Legendre index of the solution
  /// What the solution was made in: f64 where f32_refine was asked but did not suffice.
  Precision precision = Precision::f64;
  Index iterations = 0;  ///< refinements of float32, also those that led nowhere
  Index vectors = 0;     ///< of `krylov`
};

/// The Legendre coefficients k = 0, 1, 2 of the solutions f_1 and f_3 on the grid, [theta][zeta].
struct Modes {
  std::array<std::vector<double>, 3> f1, f3;
};

}  // namespace sonde::neoclassical
