// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/events/drums.h"

namespace sonde::separate {

/// An event of a reference.
struct ReferenceEvent {
  double time_s = 0;
  Drum drum = Drum::kick;
  double velocity = 0;  ///< in any unit
};

/// A MIDI file, of which notes of drums count, or a table of events as this program writes it: columns `time_s`,
/// `event` (a hit or the name of a stem) and, if there, `velocity` or `gain`. In order of time. Throws Error(bad_file)
/// naming the line or byte, and where no event of a drum is there.
[[nodiscard]] std::vector<ReferenceEvent> read_reference(const std::string& path);

/// Events closer than `gap_s` to the one before them that is kept are part of it.
[[nodiscard]] std::vector<ReferenceEvent> merged(const std::vector<ReferenceEvent>& events, double gap_s);

/// How well found events are those of a reference. Counts add up to those of several stems.
struct Matching {
  Index found = 0, expected = 0, matched = 0;
  double distance_s = 0;  ///< sum of |found - expected| over the pairs
  /// Of each pair: velocities found and expected.
  std::vector<double> velocities{}, expected_velocities{};

  [[nodiscard]] double precision() const;
  [[nodiscard]] double recall() const;
  /// 2 matched / (found + expected): the harmonic mean of both; 1 where neither has an event.
  [[nodiscard]] double f_measure() const;
  [[nodiscard]] double mean_distance_s() const;
  /// Pearson's; 0 with fewer than two pairs or equal velocities.
  [[nodiscard]] double velocity_correlation() const;
  Matching& operator+=(const Matching& other);
};

/// As many pairs as there can be of one event each, not further apart than `within_s`. Both in order of time.
[[nodiscard]] Matching match(const std::vector<DrumEvent>& found, const std::vector<ReferenceEvent>& expected,
                             double within_s);

}  // namespace sonde::separate
