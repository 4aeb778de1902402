// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/neoclassical/scan/convergence.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

// The tables of a run file but [surface], which is read/surface_options.h.

namespace sonde::neoclassical {

/// [grid].
struct GridSettings {
  Index n_theta = 25, n_zeta = 25, n_xi = 60;
  Discretisation discretisation = Discretisation::skew;
  bool round_odd = false;

  /// Throws Error(bad_input) for even counts of angles unless `round_odd` takes the next odd ones.
  [[nodiscard]] GridSpec spec() const;

  void describe(Fields& fields);
};

/// How an electric field is given.
enum class FieldKind {
  epsi_hat,  ///< E_psi / v in the radial label of the surface: what the solver takes
  er_hat,    ///< E_r / v, T
  er_tilde,  ///< of the databases: E_r / v in units that derived_fields.h converts
};
[[nodiscard]] const char* name(FieldKind kind);

/// [case]: one collisionality and one electric field.
struct CaseSettings {
  std::optional<double> nu_hat, epsi_hat, er_hat, er_tilde;

  void describe(Fields& fields);
};

/// [scan]: lists in place of [case], separated by commas.
struct ScanSettings {
  std::string nu_v, epsi_hat, er_hat, er_tilde, rho;

  void describe(Fields& fields);
};

/// [solver].
struct SolverSettings {
  std::optional<Path> path;
  std::optional<Precision> precision = Precision::f64;  ///< absent: `auto`, the fastest by the map of this machine
  std::optional<std::string> device;
  std::optional<Index> threads, scan_batch_size;
  double tol = 1e-8;
  std::optional<double> adapt_n_xi;
  bool krylov_reuse = true;

  /// `auto` is f64 unless it has been resolved before.
  [[nodiscard]] SolverOptions solver() const;
  /// When adapt_n_xi is set: the Legendre modes that each point needs.
  [[nodiscard]] std::optional<LegendreSearch> search() const;

  void describe(Fields& fields);
  /// Only these keys, for verbs that have no use for the others.
  void describe_only(const std::vector<std::string>& keys, Fields& fields);
};

/// [output].
struct OutputSettings {
  std::string path;
  bool include_modes = false, plot = false;
  std::optional<std::string> report;

  void describe(Fields& fields);
};

/// [logging].
struct LoggingSettings {
  bool verbose = false;

  void describe(Fields& fields);
};

}  // namespace sonde::neoclassical
