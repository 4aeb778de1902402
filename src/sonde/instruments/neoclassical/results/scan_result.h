// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/results/run_result.h"
#include "sonde/instruments/neoclassical/run/field_axis.h"
#include "sonde/instruments/neoclassical/scan/scan.h"

namespace sonde::neoclassical {

/// A scan over radius, collisionality and field. Points are [rho][nu][field].
struct ScanResult {
  std::vector<double> rho;  ///< one entry for a surface that is no part of an equilibrium: NaN
  std::vector<double> nu_v;
  FieldAxis field;
  std::vector<std::vector<double>> epsi_hat;  ///< of each radius: what the fields are to the solver
  std::vector<double> iota, B0, psi_scale;    ///< of each radius
  std::vector<double> G, I;                   ///< of each radius: B_zeta and B_theta, T m
  std::vector<double> signgs{};               ///< of each radius: sign of the Jacobian of (label, theta, zeta)
  std::vector<double> R0;                     ///< R_00 of each radius, m; empty when the file does not say it
  double a_b = 0, psi_a = 0;                  ///< minor radius, m, and edge flux / 2 pi, T m^2; 0: not known
  int periods = 1;                            ///< N_fp
  bool symmetric = true;                      ///< stellarator symmetric, on every radius
  CoefficientUnits units{"r", "", ""};
  Precision precision = Precision::f64;  ///< what was asked
  bool searched = false;                 ///< the Legendre modes of each point were found by solve_adapted()
  std::vector<Point> points;

  /// What went along one path: only points with an answer.
  struct Share {
    Path path = Path::dense;
    Index points = 0;
    double core_seconds = 0;
    double flops = 0;  ///< least_flops() of them all; 0 for `krylov`
    std::string because{};
  };
  /// Of the paths that were gone, in their order.
  [[nodiscard]] std::vector<Share> shares(const GridSpec& grid) const;
  /// How many points were solved by `dense` where others went by even and odd parts.
  [[nodiscard]] Index by_dense_after_all() const;
  /// Throws Error(not_converged) naming the first point without an answer.
  void require_answers() const;
  /// Points that were solved in float64 though single precision was asked.
  [[nodiscard]] Index fell_back() const;
  /// Points that a GPU has solved.
  [[nodiscard]] Index in_batches() const;
};

/// Axes rho, nu_v and field (named by the text field_name), epsi_hat (rho, field); iota, B0, G, I, signgs, psi_scale
/// and, where they are known, R0 (rho) and the scalars a_b and psi_a; nfp, stellarator_symmetric; D11 D31 D13 D33
/// D33_spitzer, which carry `units` and `radial_label`, residual, onsager_residual, path_code, precision_code,
/// iterations, n_xi_used, status and seconds on (rho, nu_v, field), where Legendre modes were searched for with the
/// estimate error_of_n_xi; texts as of a run, with the precision that was asked.
[[nodiscard]] Contents scan_contents(const ScanResult& scan, const GridSpec& grid, const Provenance& provenance);

}  // namespace sonde::neoclassical
