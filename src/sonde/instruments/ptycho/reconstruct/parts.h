// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/share/share.h"

namespace sonde::ptycho {

/// Leaves of a state of the whole scan the frames and the part of the object that are this process's. Throws
/// Error(bad_input) when it is of another scan.
void cut_state(const Share& share, State& state);
/// On rank 0 the state of the whole scan, from everybody's part: vacuum where no frame reaches. Empty on the others.
/// All processes must ask.
[[nodiscard]] State assembled_state(const Share& share, const State& part);

/// Places of the own frames in the own part of the object, from those of all frames in the whole, and back (known to
/// all).
[[nodiscard]] std::vector<Point> own_places(const Share& share, const std::vector<Point>& of_scan);
[[nodiscard]] std::vector<Point> places_of_scan(const Share& share, const std::vector<Point>& own);

/// The own part of an array over the whole object, (S, rows, cols) of any type of number, and on rank 0 the whole of
/// everybody's parts, with `outside` where nobody has one.
[[nodiscard]] Array own_part(const Share& share, const Array& whole);
[[nodiscard]] Array whole_of(const Share& share, const Array& part, float outside);

}  // namespace sonde::ptycho
