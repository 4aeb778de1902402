// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/phase/phase_result.h"

namespace sonde::stem {

/// Four panels, u8 (rows, cols, 3): the phase; the deflections with their direction as colour and their length as
/// brightness, beside a wheel that shows the colour of each direction; curl and divergence in one range, so that what
/// is no gradient shows at a glance. Missing positions are grey-red.
[[nodiscard]] Array phase_picture(const PhaseResult& result);

}  // namespace sonde::stem
