// SPDX-License-Identifier: Apache-2.0
// Private to the room: how states and what engines remember stand in a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/io/checkpoint.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// Positions as (points, 2) of row and col, float64, and back.
Array array_of(const std::vector<Point>& points);
std::vector<Point> points_of(const Array& array);

/// The arrays of a state under names that begin with `prefix`. Reading throws like CheckpointReader::array().
void save_state(CheckpointWriter& checkpoint, const std::string& prefix, const State& state);
void restore_state(const CheckpointReader& checkpoint, const std::string& prefix, State& state);

/// (frames, slot...) of what an engine keeps for every frame, slot by slot: exit waves may be larger than the memory.
/// Slots that nobody filled stay zero.
void save_slots(CheckpointWriter& checkpoint, const std::string& name, const EngineMemory& piece);
void restore_slots(const CheckpointReader& checkpoint, const std::string& name, const EngineMemory& piece);

}  // namespace sonde::ptycho
