// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/orient/match_orientations.h"

namespace sonde::stem {

inline constexpr std::size_t most_phases = 8;

/// Which of several crystals explains the disks of every position.
struct PhaseMap {
  std::vector<std::string> names{};   ///< of the crystals, in the order in which they were given
  double margin = 0;                  ///< %: a position with a smaller reliability is not decided
  std::vector<std::int8_t> phase{};   ///< (position) the crystal with the largest score; -1: none has an orientation
  std::vector<double> reliability{};  ///< (position) 100 (1 - c2 / c1) of the two largest scores; NaN without one
  std::vector<double> score{};        ///< (position, crystal) shared_strength() of its best match; NaN without one

  [[nodiscard]] bool decided(std::size_t position) const {
    return phase[position] >= 0 && !(reliability[position] < margin);
  }
  /// Positions where this crystal is decided.
  [[nodiscard]] Index positions_of(std::size_t crystal) const;
  [[nodiscard]] Index undecided() const;
  /// "phases    Au 53.1 %, Fe 45.8 %, not decided 1.0 % (two crystals within 1 %), none 0.0 %".
  [[nodiscard]] std::string line() const;
  [[nodiscard]] Value to_value() const;
  /// Crystals that are found nowhere, and many positions that are not decided.
  [[nodiscard]] std::vector<std::string> warnings() const;
};

/// How well the kinematic pattern (g, J) of an orientation explains peaks (q, I), from 0 to 1: the sum over pairs of
/// sqrt(I_i J_j) exp(-|q_i - g_j|^2 / (2 width^2)) / sqrt(sum I sum J), where every peak and every spot is in at most
/// one pair, those with the largest terms first. 1 where both are the same but for a factor. Peaks that have no spot
/// and spots that have no peak both lower it, so that a crystal with many reflections, which has a spot near any peak,
/// is not preferred to one with few: the correlation of a plan, which leaves out peaks between its rings, would. The
/// pairs keep dense patterns, in which a peak is near several spots, from counting it several times.
[[nodiscard]] double shared_strength(const OrientationPlan& plan, const Orientation& orientation,
                                     std::span<const DiffractionPeak> peaks, double width);

/// Keeps for each position the matches of the crystal with the largest score. `peaks` and `first` as of
/// match_orientations(), `matches` for each plan what that gave (they are moved from). The width of the scores is half
/// a kernel of the plans.
struct PhaseMatches {
  PhaseMap phases{};
  std::vector<PatternMatch> matches{};
};
[[nodiscard]] PhaseMatches map_phases(std::span<const OrientationPlan* const> plans,
                                      std::span<const DiffractionPeak> peaks, std::span<const Index> first,
                                      std::vector<std::vector<PatternMatch>> matches, double margin);

}  // namespace sonde::stem
