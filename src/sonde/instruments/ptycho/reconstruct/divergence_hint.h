// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace sonde::ptycho {

/// What helps when estimates run away: object and probe share a factor that no pattern fixes, and steps that are too
/// long let it grow.
inline constexpr std::string_view divergence_hint =
    "halve the steps; switch the constraint probe_power on where it is off";

}  // namespace sonde::ptycho
