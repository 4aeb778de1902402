// SPDX-License-Identifier: Apache-2.0
// Private to the room: images small enough to be sent often.
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// Of the object in `view`, all slices together, each f32 of the same size: an element is the mean of `step` x `step`
/// pixels (of the transmission, or of a potential's phase), the last ones of fewer. Phases of transmissions are
/// relative to the mean direction of the view.
struct ShownObject {
  Array phase, amplitude;
};
[[nodiscard]] ShownObject shown_object(const State& state, const Box& view, Index step);

/// |P| of one mode, f32 (rows, columns), centred.
[[nodiscard]] Array shown_mode(const State& state, Index mode);

/// The smallest step that leaves at most `most` elements along each side.
[[nodiscard]] Index step_for(const Box& view, Index most);

}  // namespace sonde::ptycho
