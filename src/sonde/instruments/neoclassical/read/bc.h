// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sonde/instruments/neoclassical/read/boozer_file.h"

namespace sonde::neoclassical {

/// A .bc text file of Boozer harmonics: G = mu0 curr_pol nper / 2 pi, I = mu0 curr_tor / 2 pi, psi_a = flux / 2 pi,
/// phase m theta - n nper zeta, the sign of sqrt(g) that of its (0,0) harmonic. Rows of six columns (symmetric) or ten
/// (cosine and sine of each). On every surface sqrtg(0,0) must agree within 1e-4 with 4 pi^2 / nper times
/// psi_a (G + iota I) <1/B^2>. Throws Error(bad_file) naming file, line or surface, and reason.
[[nodiscard]] BoozerFile read_bc(const std::string& path);
/// The same from text; `name` stands for the file.
[[nodiscard]] BoozerFile parse_bc(std::string_view text, const std::string& name);

}  // namespace sonde::neoclassical
