// SPDX-License-Identifier: Apache-2.0
// Private to the room: how states and what engines remember stand in a checkpoint. Several processes write one file as
// one process would: all call with their parts and their share, and only rank 0 has the file (`checkpoint` is nullptr
// on the others); each reads its own parts of it. One process has no share.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/io/checkpoint.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/share/share.h"

namespace sonde::ptycho {

/// The arrays of a state under names that begin with `prefix`. Reading throws like CheckpointReader::array() and
/// cut_state().
void save_state(CheckpointWriter* checkpoint, const std::string& prefix, const State& state, const Share* share);
void restore_state(const CheckpointReader& checkpoint, const std::string& prefix, State& state, const Share* share);

/// Places of frames.
void save_places(CheckpointWriter* checkpoint, const std::string& name, const std::vector<Point>& places,
                 const Share* share);
[[nodiscard]] std::vector<Point> restored_places(const CheckpointReader& checkpoint, const std::string& name,
                                                 const Share* share);

/// A piece of an engine's memory. Slots, (frames, slot...), go one by one: exit waves may be larger than the memory.
/// Slots that nobody filled stay zero.
void save_memory(CheckpointWriter* checkpoint, const std::string& name, const EngineMemory& piece, const Share* share);
void restore_memory(const CheckpointReader& checkpoint, const std::string& name, const EngineMemory& piece,
                    const Share* share);

}  // namespace sonde::ptycho
