// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/events/drums.h"

namespace sonde::separate {

struct PatternSettings {
  std::uint64_t seed = 1;
  double seconds = 10, tempo = 100;  ///< tempo: quarters per minute
  double timing_ms = 5;              ///< how far a hit is off the beat, one standard deviation
};

/// A hit of a performance.
struct PlayedHit {
  double time_s = 0;
  Hit hit = Hit::kick;
  double strength = 1;  ///< 0 to 1
  /// 1 to 127.
  [[nodiscard]] Index velocity() const { return std::max<Index>(1, static_cast<Index>(127 * strength + 0.5)); }
};

/// A beat of four quarters as a drummer may play it, drawn from the seed: kick and snare with some ghost notes, hi-hats
/// on eighths and some sixteenths with accents on the beats, one open; a fill on the toms at the end of every fourth
/// bar and a crash after it; the ride takes the place of the hi-hat in every fourth bar. In order of time; none begins
/// in the last 0.1 s. The same bits on every processor.
[[nodiscard]] std::vector<PlayedHit> drum_pattern(const PatternSettings& settings);

}  // namespace sonde::separate
