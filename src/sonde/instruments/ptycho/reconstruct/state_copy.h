// SPDX-License-Identifier: Apache-2.0
// Private to the room: copies of what an iteration changes, without new memory where there is some.
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// Elements of an array that is not empty, into one of equal shape or into an empty one.
void copy_into(const Array& from, Array& to);

/// A state of one shape into another, or into one that is empty.
void copy_state(const State& from, State& to);

}  // namespace sonde::ptycho
