// SPDX-License-Identifier: Apache-2.0
// Coefficients by a formula, and a plasma, for tests.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "sonde/instruments/neoclassical/transport/plasma.h"
#include "sonde/instruments/neoclassical/transport/surface_source.h"

namespace sonde::neoclassical::testing {

/// D_ij(nu_hat, er_hat); it knows everything where no limit is given.
struct Formula : SurfaceSource {
  std::function<Dij(double, double)> d;
  double b0 = 1, ratio = 1, highest_nu_hat = 1e300;
  std::optional<double> varying{};  ///< <U^2>

  explicit Formula(std::function<Dij(double, double)> formula) : d(std::move(formula)) {}
  [[nodiscard]] double reference_field() const override { return b0; }
  [[nodiscard]] double b2_ratio() const override { return ratio; }
  [[nodiscard]] std::optional<double> u2() const override { return varying; }
  void coefficients(std::span<const double> nu_hat, std::span<const double> er_hat,
                    std::span<SurfaceDij> made) const override {
    for (std::size_t i = 0; i < nu_hat.size(); ++i) made[i] = {d(nu_hat[i], er_hat[i]), nu_hat[i] > highest_nu_hat};
  }
};

/// The same formula on every surface.
struct FormulaEverywhere : RadialSource {
  Formula formula;
  double a_b = 1;
  explicit FormulaEverywhere(Formula every) : formula(std::move(every)) {}
  [[nodiscard]] double minor_radius() const override { return a_b; }
  [[nodiscard]] std::unique_ptr<SurfaceSource> at(double) const override { return std::make_unique<Formula>(formula); }
};

constexpr double kilo_electron_volt = 1e3 * elementary_charge;

/// Electrons, deuterium and carbon at different temperatures, neutral.
inline std::vector<Population> mixed_plasma() {
  return {{species("e"), 1e20, 2 * kilo_electron_volt, -1e20, -3 * kilo_electron_volt},
          {species("D"), 0.88e20, 1.5 * kilo_electron_volt, -0.7e20, -1 * kilo_electron_volt},
          {species("C"), 0.02e20, 1.2 * kilo_electron_volt, -0.05e20, -2 * kilo_electron_volt}};
}

/// A radial current with roots at -4, 2 and 9 kV/m: ion, unstable, electron.
inline double three_roots(double er) { return (er + 4e3) * (er - 2e3) * (er - 9e3) * 1e-9; }

}  // namespace sonde::neoclassical::testing
