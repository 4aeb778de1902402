// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/geometry/sampled_surface.h"
#include "sonde/instruments/neoclassical/operators/line_matrix.h"
#include "sonde/instruments/neoclassical/operators/sparse_rows.h"

namespace sonde::neoclassical {

/// How the drift-kinetic equation is put on the grid of angles.
enum class Discretisation {
  skew,         ///< entropy-conserving: D13 = -D31 and D11 >= 0 on any grid
  collocation,  ///< point by point, as MONKES and NTX have it
};

[[nodiscard]] const char* name(Discretisation discretisation);

/// One monoenergetic problem: collisionality nu/v in 1/m, and E_psi/v.
struct Case {
  double nu_hat = 0, epsi_hat = 0;
  friend bool operator==(const Case&, const Case&) = default;
};

/// The drift-kinetic equation of one surface in Legendre modes of the pitch:
///     L_k u_{k-1} + D_k u_k + U_k u_{k+1} = s_k ,   k = 0, 1, 2, ...
/// with unknowns u_k on the grid of angles ([theta][zeta]), and
///     L_k = a (A + b diag(g)) ,   U_k likewise ,   D_k = (nu_hat / 2) k (k + 1) + E_hat X .
/// `collocation`: u_k = f_k, the Legendre coefficients, A = b.grad, g = b.grad ln B; one row of k = 0 is replaced by
/// f_0(0, 0) = 0, which takes the constant out of the null space.
/// `skew`: u_k = W^(1/2) f_k / sqrt(2 k + 1) with W = |sqrt g|, A and X antisymmetric, U_{k-1} = -L_k^T, so that the
/// operator is a diagonal >= 0 plus a skew one. Null vector of k = 0: v = W^(1/2) / norm. (Hirshman et al., Phys.
/// Fluids 29 (1986) 2951; Escoto et al., Nucl. Fusion 64 (2024) 076030.)
struct DriftKinetic {
  /// The sources or weights of k = 0, 1, 2; the others are zero.
  using Drive = std::array<std::vector<double>, 3>;

  Discretisation discretisation = Discretisation::skew;
  AngleGrid grid;
  double iota = 0;
  bool symmetric = false;      ///< stellarator symmetric
  SparseRows streaming;        ///< A
  LineMatrix streaming_lines;  ///< A as well, for products in double
  std::vector<double> mirror;  ///< g
  double largest_row = 0;      ///< the largest sum of magnitudes along a row of A and g
  SparseRows drift;            ///< X but for its projection
  LineMatrix drift_lines;      ///< likewise
  double largest_drift_row = 0;
  /// skew: v, and X v before the projection, so that X x = drift x + v (w . x) - w (v . x). Empty for `collocation`.
  std::vector<double> null_vector, drift_of_null;
  /// skew: on a rational surface the functions W^(1/2) cos and sin (m theta + n N_fp zeta) of its modes are constant
  /// along the field lines, so that at k = 0 neither streaming nor collisions act on them and f_0 has no part of them
  /// that anything but E_hat determines. Only in straight angles. All cosines, then all sines, orthonormal and
  /// orthogonal to v.
  std::vector<std::vector<double>> undamped;
  double undamped_share = 0;               ///< the length of their part of s_1 at k = 0 over the length of that
  Drive radial, parallel;                  ///< s_1 and s_3: the drives of D.1 and D.3
  Drive radial_weights, parallel_weights;  ///< D_1. = weights . u, before the factors of length and field
  std::vector<double> to_legendre;         ///< f_k = sqrt(2 k + 1) to_legendre u_k for `skew`, f_k = u_k else
  double psi_scale = 1, reference_field = 1;
  double b2_mean = 1;

  [[nodiscard]] Index points() const { return grid.count(); }

  /// a and b of L_k and of U_k.
  struct Factors {
    double scale, shift;
  };
  [[nodiscard]] Factors lower(Index k) const;
  [[nodiscard]] Factors upper(Index k) const;
  /// (nu_hat / 2) k (k + 1).
  [[nodiscard]] static double collisions(double nu_hat, Index k) {
    return nu_hat / 2 * static_cast<double>(k) * static_cast<double>(k + 1);
  }
  /// The functions that the k = 0 of this case goes without: the undamped ones where there is no field. The answer is
  /// that of a field tending to zero, which turns their cosines into their sines and makes no transport of them.
  [[nodiscard]] std::span<const std::vector<double>> left_out(const Case& at) const {
    return at.epsi_hat == 0 ? std::span<const std::vector<double>>(undamped) : std::span<const std::vector<double>>();
  }
  /// Whether row 0 of k is the condition f_0(0, 0) = 0.
  [[nodiscard]] bool pinned(Index k) const { return k == 0 && discretisation == Discretisation::collocation; }

  /// y += scale L_k x, y += scale U_k x, y += scale D_k x. With a long double y all of it is added in that.
  void add_lower(Index k, double scale, std::span<const double> x, std::span<double> y) const;
  void add_lower(Index k, double scale, std::span<const double> x, std::span<long double> y) const;
  void add_upper(Index k, double scale, std::span<const double> x, std::span<double> y) const;
  void add_upper(Index k, double scale, std::span<const double> x, std::span<long double> y) const;
  void add_diagonal(Index k, const Case& at, double scale, std::span<const double> x, std::span<double> y) const;
  void add_diagonal(Index k, const Case& at, double scale, std::span<const double> x, std::span<long double> y) const;

  /// D33 of a uniform field: 2 <B^2> / (3 nu_hat B0^2).
  [[nodiscard]] double spitzer(double nu_hat) const {
    return 2 * b2_mean / (3 * nu_hat * reference_field * reference_field);
  }
};

/// Throws like sample().
[[nodiscard]] DriftKinetic drift_kinetic(const SampledSurface& surface, Discretisation discretisation);

/// The grid modes (m, n) other than (0, 0) with |iota m + n N_fp| below 1e-6: the surface is rational and field lines
/// close within what the grid resolves. Each with m > 0, and the smallest m first.
[[nodiscard]] std::vector<Mode> resonances(double iota, const AngleGrid& grid);

/// The one of them with the smallest |iota m + n N_fp|.
[[nodiscard]] std::optional<Mode> resonance(double iota, const AngleGrid& grid);

}  // namespace sonde::neoclassical
