// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sonde::maxwell {

// CODATA 2018, SI units.
inline constexpr double eps0 = 8.8541878128e-12;  // F/m
inline constexpr double mu0 = 1.25663706212e-6;   // H/m
inline constexpr double c0 = 299792458.0;         // m/s
inline constexpr double eta0 = 376.730313667776;  // Ohm, sqrt(mu0 / eps0)

}  // namespace sonde::maxwell
