// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/simulate/drum_pattern.h"

namespace sonde::separate {

struct LoopSettings {
  PatternSettings pattern{};
  Index rate = 44100;
  bool backing = false;  ///< a stem `music` too: bass, chords and a melody
};

/// Samples of two channels.
struct LoopStem {
  std::string name;
  std::vector<float> samples;  ///< (2, samples)
  [[nodiscard]] View<const float, 2> view() const {
    return {samples.data(), 2, static_cast<Index>(samples.size()) / 2};
  }
};

struct DrumLoop {
  std::vector<PlayedHit> hits;
  std::vector<LoopStem> stems;  ///< kick, snare, toms, hihat, cymbals, and music
  LoopStem mixture;             ///< their sum
};

/// The performance of drum_pattern(), rendered: each stem is silent where nothing was hit. Hits begin at the sample
/// nearest to their time. The same seed gives the same bits on every processor and for every number of threads. Throws
/// Error(bad_input) for less than 0.5 s, a tempo outside 30 to 300 and sample rates outside 8000 to 192000.
[[nodiscard]] DrumLoop simulate_loop(const LoopSettings& settings);

/// The hits as a table that `sonde separate midi` takes as a reference: time_s,event,velocity,note (of General MIDI's
/// percussion).
[[nodiscard]] std::string hits_csv(const std::vector<PlayedHit>& hits);
/// The same as a MIDI file with a track for each drum.
[[nodiscard]] std::string hits_midi(const std::vector<PlayedHit>& hits, double tempo);

/// The stems as the small network of the demonstration has them: kick, snare, hihat, and `other` for all else.
[[nodiscard]] std::vector<LoopStem> stems_with_other(const DrumLoop& loop);

}  // namespace sonde::separate
