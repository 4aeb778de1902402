// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sonde/instruments/neoclassical/convert/conversions.h"

namespace sonde::neoclassical {

/// An answer, and whether it is a continuation beyond what is known.
struct SurfaceDij {
  Dij d;
  bool beyond = false;
  std::string unsolved{};  ///< why there is no answer; `d` then means nothing
};

/// Where the energy integrals take the coefficients of one flux surface from: a table, a solver, or a closed form.
/// Everything is per metre of r (a = 1 with psi = r): E_hat = E_r/v.
class SurfaceSource {
 public:
  virtual ~SurfaceSource() = default;

  [[nodiscard]] virtual double reference_field() const = 0;  ///< T, of the angles that the coefficients are in
  [[nodiscard]] virtual double b2_ratio() const = 0;         ///< <B^2> / B0^2
  /// <U^2>, 1/T^2, of the flow xi U that varies along B, <B U> = 0: D11 tends to (2/3) nu_hat <U^2> for frequent
  /// collisions (Pfirsch and Schlueter). Nothing where the source does not reach so far.
  [[nodiscard]] virtual std::optional<double> u2() const = 0;
  /// Whether no answer depends on the sign of the field, as in fields with stellarator symmetry.
  [[nodiscard]] virtual bool even_in_field() const { return true; }

  /// D_ij of each pair nu_hat[i] (1/m), er_hat[i] = E_r/v (T, signed); all three equally long. Thread-safe.
  virtual void coefficients(std::span<const double> nu_hat, std::span<const double> er_hat,
                            std::span<SurfaceDij> made) const = 0;
};

/// <U^2> of two D11 at frequent collisions without field, which are (2/3) nu_hat <U^2> + c/nu_hat there; nothing where
/// the second term is above a tenth at the more frequent of them.
struct FrequentD11 {
  double nu_hat = 0, D11 = 0;
};
[[nodiscard]] std::optional<double> u2_between(const FrequentD11& often, const FrequentD11& oftener);

/// Makes the source of each radius when it is asked for, and outlives it. Thread-safe.
class RadialSource {
 public:
  virtual ~RadialSource() = default;
  [[nodiscard]] virtual double minor_radius() const = 0;  ///< a_b, m
  /// `rho` in (0, 1]. Throws Error(bad_input) elsewhere.
  [[nodiscard]] virtual std::unique_ptr<SurfaceSource> at(double rho) const = 0;
};

}  // namespace sonde::neoclassical
