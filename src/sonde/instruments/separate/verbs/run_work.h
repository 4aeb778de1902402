// SPDX-License-Identifier: Apache-2.0
// Private to the room: how much there is to do for a network of a run, before it is done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/value.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/run/separation.h"

namespace sonde::separate {

struct Work {
  Index passes = 0;  ///< of chunks through the network
  double audio_s = 0, longest_s = 0;
  double stem_bytes = 0;                      ///< of files; 0 where their size is not known
  double kept_bytes = 0, replaced_bytes = 0;  ///< on the disk beside those of all files: of the largest one
};

/// Reads the head of every file, says what it is, and refuses what would fail later. Also in `results`.
[[nodiscard]] Work say_work(const std::vector<SeparationTask>& tasks, const SeparationSettings& settings,
                            const Config& config, sonde::Value& results, Run& run);
/// What all of it will take, of which the network is nearly all. Also in `results`. Nothing where that is not known.
std::optional<double> say_time(const Work& work, const Config& config, const std::vector<ConvolutionMethod>& methods,
                               sonde::Value& results, Run& run);

/// Throws Error(io) where the disk has no room for what is written and kept.
void require_room_on_disk(const std::string& folder, double bytes);

}  // namespace sonde::separate
