// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// Frames that take part, and frames that only judge: R_free is R_I over the latter.
struct HeldOut {
  std::vector<Index> active, held;  ///< both ascending
};

/// Of the frames, where nobody says another share and there are enough.
inline constexpr double usual_holdout = 0.03;

/// Draws ceil(fraction * candidates) frames, at least 16, with the seed. Without a fraction: usual_holdout from 160
/// candidates on, none below. Throws Error(bad_input) for fractions outside [0, 0.5], and when fewer than half would
/// remain.
[[nodiscard]] Choice<HeldOut> hold_out(const std::vector<Index>& candidates, std::optional<double> fraction,
                                       std::uint64_t seed);

/// The same of the frames 0 to frames - 1 but those of `skip`, which take no part.
[[nodiscard]] Choice<HeldOut> hold_out(Index frames, std::vector<Index> skip, std::optional<double> fraction,
                                       std::uint64_t seed);

}  // namespace sonde::ptycho
