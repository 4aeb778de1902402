// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sonde {

/// Relativistic de Broglie wavelength of electrons in A: h c / sqrt(E (2 m c^2 + E)), with h c exact in the SI of 2019
/// and m c^2 of CODATA 2022. 200 keV: 0.02507934, 300 keV: 0.01968749. All three functions throw Error(bad_input) for
/// an energy that is not above zero.
[[nodiscard]] double electron_wavelength(double energy_kev);

/// Phase of an electron wave per projected potential, rad/(V A): (2 pi / (lambda E)) (m c^2 + E) / (2 m c^2 + E).
[[nodiscard]] double interaction_constant(double energy_kev);

/// Wavelength of photons in A: h c / E.
[[nodiscard]] double photon_wavelength(double energy_kev);

}  // namespace sonde
