// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/instruments/neoclassical/geometry/surface.h"

namespace sonde::neoclassical {

/// How much of the variation of |B| a grid takes for something else: the amplitudes of the modes beyond
/// |m| = (n_theta - 1) / 2 or |n| = (n_zeta - 1) / 2, over those of all modes but (0,0). 0 for a uniform field.
[[nodiscard]] double unresolved_share(const Surface& surface, Index n_theta, Index n_zeta);

/// What a user should know of a grid below the Nyquist floor of the modes that hold 99.9 % of the variation of |B|, and
/// which counts D31 needs: 2.25 points for each of them. A residual does not show what aliasing does. Nothing above the
/// floor. Throws like require_resolution().
[[nodiscard]] std::optional<std::string> resolution_note(const Surface& surface, Index n_theta, Index n_zeta);

/// Throws Error(bad_input) for a grid that misses more than a quarter of the variation of |B|, naming counts that
/// suffice.
void require_resolution(const Surface& surface, Index n_theta, Index n_zeta);

}  // namespace sonde::neoclassical
