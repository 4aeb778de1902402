// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/random.h"
#include "sonde/instruments/separate/events/drums.h"

namespace sonde::separate {

/// One hit as a signal of one channel, from its onset to where it has faded. `strength` from 0 to 1: harder hits are
/// louder and brighter. A membrane is a sine whose frequency falls with its tension (kick, toms) or a few damped modes
/// (snare); wires, sticks and air are noise of a band; a metal plate is many inharmonic partials of high frequency,
/// each damped faster the higher it is, above noise (hi-hat, cymbals). The same bits on every processor.
[[nodiscard]] std::vector<double> drum_sound(Hit hit, double strength, Random random, Index rate);

}  // namespace sonde::separate
