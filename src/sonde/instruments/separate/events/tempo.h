// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace sonde::separate {

struct Tempo {
  double per_minute = 120;
  std::vector<double> beats_s{};  ///< in order of time, from the first event to the last
};

/// The tempo of events, times ascending in seconds with weights > 0, and their beats. The period with the largest
/// autocorrelation of the events within 2.4 s, that of two and of half a period counting too, and periods near half a
/// second more than others (a normal curve of 0.9 octaves); then the path of beats with the most events on it whose
/// steps are near that period, by dynamic programming (Ellis 2007, J. New Music Research 36). The tempo is that of the
/// straight line through the beats. Nothing for fewer than eight events, or events that no period from 40 to 240 a
/// minute has. Costs 200 operations for each period of 5 ms.
[[nodiscard]] std::optional<Tempo> find_tempo(const std::vector<double>& times_s, const std::vector<double>& weights);

}  // namespace sonde::separate
