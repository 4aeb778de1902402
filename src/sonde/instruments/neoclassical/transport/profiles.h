// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/transport/monotone_cubic.h"
#include "sonde/instruments/neoclassical/transport/plasma.h"

namespace sonde::neoclassical {

/// n = 1e20 (n0 (1 - rho^10) + n_edge) 1/m^3, T = 1e3 (T0 (1 - rho^2) + T_edge) eV for electrons; deuterium and tritium
/// have half the density each and the same temperature.
struct StandardProfiles {
  double n0 = 4.21, n_edge = 0.6, T0 = 17.8, T_edge = 0.7;
};
/// e, D, T at `rho`, slopes by r = a_b rho. Throws Error(bad_input) for rho outside [0, 1].
[[nodiscard]] std::vector<Population> standard_plasma(const StandardProfiles& profiles, double rho, double a_b);

/// Profiles given at points of rho, monotone cubics between them.
class TabulatedProfiles {
 public:
  struct Column {
    Species species;
    std::vector<double> density;      ///< 1/m^3
    std::vector<double> temperature;  ///< eV
  };
  /// Throws Error(bad_input) naming the column: rho that does not increase or leaves [0, 1], fewer than two points,
  /// columns of another length, values that are not finite or not above zero.
  TabulatedProfiles(std::vector<double> rho, const std::vector<Column>& columns, std::vector<double> er = {});

  [[nodiscard]] double first() const { return first_; }  ///< rho of the first point
  [[nodiscard]] double last() const { return last_; }

  /// Throws Error(bad_input) beyond the first and last point.
  [[nodiscard]] std::vector<Population> plasma(double rho, double a_b) const;
  /// V/m; nothing when no column gives it.
  [[nodiscard]] std::optional<double> radial_field(double rho) const;

 private:
  void require_within(double rho) const;

  struct Curves {
    Species species;
    MonotoneCubic density, temperature;
  };
  double first_ = 0, last_ = 0;
  std::vector<Curves> curves_;
  std::optional<MonotoneCubic> radial_field_;
};

}  // namespace sonde::neoclassical
