// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sonde/instruments/neoclassical/read/analytic.h"
#include "sonde/instruments/neoclassical/read/notes.h"

namespace sonde::neoclassical {

/// The namelist `datain` of DKES: nzperiod, chip, psip, btheta, bzeta and borbi(n, m) = B_mn with the phase
/// m theta + n nzperiod zeta; iota = -chip / psip. Or the namelist `dkes_indata` of STELLOPT's DKES, made from a VMEC
/// equilibrium in its left-handed angles: the phase is m theta - n nzperiod zeta, iota = chip / psip. Other keys are
/// not used, with a note. Throws Error(bad_file) naming file and key for what is missing, given twice, no number, or
/// of signs that contradict each other; Error(not_supported) for borbi of 1/|B| (ibbi = 2) or by the list nvalsb.
[[nodiscard]] AnalyticSurface parse_dkes(std::string_view text, const std::string& name, Notes& notes);

/// A table of rows "m n B_mn" below scalars "key value" or "key = value": nfp (nzperiod), psi_p (psip), b_theta
/// (btheta), b_zeta (bzeta), and iota or chip with iota = -chip / psip. Comments begin with # or !. Throws
/// Error(bad_file) naming file and line.
[[nodiscard]] AnalyticSurface parse_table(std::string_view text, const std::string& name);

/// Which of the two a text is.
[[nodiscard]] bool is_namelist(std::string_view text);

}  // namespace sonde::neoclassical
