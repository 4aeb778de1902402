// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/convert/conversions.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string_view>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

const double root_pi = std::sqrt(std::numbers::pi);

/// Which setting gives a length that a result does not hold.
std::string remedy(std::string_view name) {
  if (name == "R0") return setting("major_radius") + " gives it";
  if (name == "r" || name == "dpsi/dr")
    return "it follows from " + setting("minor_radius") + " of the plasma, or " + setting("radius") +
           " of this one surface";
  return "";
}

double divisor(const char* name, double value) {
  if (value != 0 && std::isfinite(value)) return value;
  Error error(ErrorKind::bad_input, fmt::format("{} is {}: nothing can be converted by it", name, value));
  if (const std::string how = remedy(name); !how.empty()) error.hint(how);
  throw error;
}

/// What the elements of the matrix of SFINCS are multiples of.
struct SfincsFactors {
  explicit SfincsFactors(const ConversionGeometry& geometry) {
    const double g = divisor("G", geometry.G), j = divisor("G + iota I", geometry.G + geometry.iota * geometry.I),
                 b0 = divisor("B0", geometry.B0);
    // Turning zeta changes the signs of G, j, iota and psi. D31 and E_hat are per psi, so that of G, D31 and of iota,
    // E_hat over G only those of j and of EStar remain.
    const double turn = std::copysign(1.0, geometry.signgs);
    d11 = -8 * turn * j * b0 / (root_pi * g * g);
    d13 = -4 * b0 / (root_pi * g);
    d31 = 4 * b0 / (root_pi * g);
    d33 = 2 * turn * b0 / (root_pi * j);
    nu = sfincs_deflection() * b0 / std::abs(j);
    field = turn * geometry.iota * b0 / g;
  }
  double d11 = 0, d13 = 0, d31 = 0, d33 = 0, nu = 0, field = 0;
};

struct StarFactors {
  explicit StarFactors(const ConversionGeometry& geometry) {
    const double b0 = divisor("B0", geometry.B0), r0 = divisor("R0", geometry.R0),
                 iota = std::abs(divisor("iota", geometry.iota)), inverse_aspect = divisor("r", geometry.r) / r0;
    if (!(inverse_aspect > 0))
      throw Error(ErrorKind::bad_input, fmt::format("r / R0 is {}, expected a number above zero", inverse_aspect));
    const double trapped = 1.46 * std::sqrt(inverse_aspect);  // 1 - f_c of a large circular tokamak
    d11 = (8 / std::numbers::pi) * r0 * b0 * b0 * iota;
    d31 = 1.5 * inverse_aspect * iota * b0 / trapped;
    nu = r0 / iota;
    field = 1 / b0;
  }
  double d11 = 0, d31 = 0, nu = 0, field = 0;
};

}  // namespace

Dij relabelled(const Dij& d, double slope) { return {d.D11 * slope * slope, d.D31 * slope, d.D13 * slope, d.D33}; }

DkesPoint to_dkes(const PsiPoint& point, const ConversionGeometry& geometry) {
  const double psi_p = divisor("dpsi/dr", geometry.psi_p);
  return {relabelled(point.d, 1 / psi_p), point.nu_hat, point.e_hat * psi_p};
}

PsiPoint from_dkes(const DkesPoint& point, const ConversionGeometry& geometry) {
  const double psi_p = divisor("dpsi/dr", geometry.psi_p);
  return {relabelled(point.d, psi_p), point.nu_hat, point.er_hat / psi_p};
}

double sfincs_deflection() {
  const double erf = std::erf(1.0), derivative = 2 / root_pi * std::exp(-1.0);
  return 0.75 * root_pi * (erf - (erf - derivative) / 2);
}

SfincsPoint to_sfincs(const PsiPoint& point, const ConversionGeometry& geometry) {
  const SfincsFactors factor(geometry);
  return {factor.d11 * point.d.D11, factor.d13 * point.d.D13, factor.d31 * point.d.D31,
          factor.d33 * point.d.D33, point.nu_hat / factor.nu, point.e_hat / divisor("iota", factor.field)};
}

PsiPoint from_sfincs(const SfincsPoint& point, const ConversionGeometry& geometry) {
  if (point.M11 * point.M22 > 0)
    throw Error(ErrorKind::bad_input, fmt::format("M11 = {:.6g} and M22 = {:.6g} have one sign; those of SFINCS differ",
                                                  point.M11, point.M22))
        .hint("convert the original result again: earlier builds of sonde wrote the first row without its minus");
  const SfincsFactors factor(geometry);
  return {{point.M11 / factor.d11, point.M21 / factor.d31, point.M12 / factor.d13, point.M22 / factor.d33},
          point.nu_prime * factor.nu,
          point.e_star * factor.field};
}

StarPoint to_stars(const PsiPoint& point, const ConversionGeometry& geometry) {
  const StarFactors factor(geometry);
  const DkesPoint per_metre = to_dkes(point, geometry);
  return {factor.d11 * per_metre.d.D11,         factor.d31 * per_metre.d.D31, factor.d31 * per_metre.d.D13,
          1.5 * point.nu_hat * per_metre.d.D33, factor.nu * point.nu_hat,     factor.field * per_metre.er_hat};
}

PsiPoint from_stars(const StarPoint& point, const ConversionGeometry& geometry) {
  const StarFactors factor(geometry);
  const double nu_hat = point.nu_star / factor.nu;
  return from_dkes({{point.D11_star / factor.d11, point.D31_star / factor.d31, point.D13_star / factor.d31,
                     point.D33_star / (1.5 * divisor("nu*", nu_hat))},
                    nu_hat,
                    point.v_e_star / factor.field},
                   geometry);
}

}  // namespace sonde::neoclassical
