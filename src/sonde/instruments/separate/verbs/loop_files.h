// SPDX-License-Identifier: Apache-2.0
// A simulated loop as files, and what the verbs say of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/simulate/drum_loop.h"

namespace sonde::separate {

/// A WAV file in floating point for each stem.
void write_stems(const std::filesystem::path& folder, const std::vector<LoopStem>& stems, Index rate, Run& run);
/// events.csv and events.mid.
void write_hits(const std::filesystem::path& folder, const std::vector<PlayedHit>& hits, double tempo, Run& run);
/// The memory that simulate_loop() takes.
[[nodiscard]] std::size_t loop_bytes(const LoopSettings& settings);

}  // namespace sonde::separate
