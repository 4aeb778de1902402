// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/wavelength.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

constexpr double planck_light = 12.398419843320026;  // h c, keV A
constexpr double electron_rest = 510.99895069;       // m c^2, keV

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

}  // namespace sonde::ptycho
