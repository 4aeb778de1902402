// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

#include "sonde/engine/array/array.h"

namespace sonde::ptycho {

/// G(m, n) = <P_m, P_n> = sum conj(P_m) P_n of a probe (M, Ny, Nx) in single or double precision, added in double: row
/// after row of M x M numbers. Throws Error(internal) for other arrays.
[[nodiscard]] std::vector<complex128> mode_products(const Array& probe);

/// The share of each mode in the power; sums to one. All zero for a probe without power.
[[nodiscard]] std::vector<double> occupancies(const Array& probe);

/// The largest |<P_m, P_n>| / (|P_m| |P_n|) of two modes, 0 for one mode: 1 means that two are the same.
[[nodiscard]] double largest_overlap(const Array& probe);

/// sum |P|^2 over all modes.
[[nodiscard]] double total_power(const Array& probe);

}  // namespace sonde::ptycho
