// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/wavelength.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {

constexpr double planck_light = 12.398419843320026;  // h c, keV A: 6.62607015e-34 J s, 299792458 m/s, 1.602176634e-19 C
constexpr double electron_rest = 510.99895069;       // m c^2, keV: CODATA 2022, known to 1.6e-7

void require_energy(double energy_kev) {
  if (!(energy_kev > 0) || !std::isfinite(energy_kev))
    throw Error(ErrorKind::bad_input, fmt::format("energy_keV = {}: an energy is above zero", energy_kev));
}

}  // namespace

double electron_wavelength(double energy_kev) {
  require_energy(energy_kev);
  return planck_light / std::sqrt(energy_kev * (2 * electron_rest + energy_kev));
}

double interaction_constant(double energy_kev) {
  const double energy_ev = 1000 * energy_kev;
  return 2 * std::numbers::pi / (electron_wavelength(energy_kev) * energy_ev) * (electron_rest + energy_kev) /
         (2 * electron_rest + energy_kev);
}

double photon_wavelength(double energy_kev) {
  require_energy(energy_kev);
  return planck_light / energy_kev;
}

}  // namespace sonde
