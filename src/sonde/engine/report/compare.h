// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/options/value.h"

namespace sonde {

enum class Verdict { faster, slower, same, unknown, only_before, only_after };

[[nodiscard]] const char* verdict_name(Verdict verdict);

/// One phase in two reports.
struct PhaseChange {
  std::string phase;  ///< "decode / transpose": the names from the outside in
  double before_s = 0, after_s = 0;
  double noise = 0;  ///< relative change that chance explains
  Verdict verdict = Verdict::unknown;
};

struct Comparison {
  std::vector<PhaseChange> phases;
  double before_rss_bytes = 0, after_rss_bytes = 0;
  std::vector<std::string> differences;  ///< of options, host, device and build: what makes the comparison unfair
  std::vector<std::string> results;      ///< results that differ, "frames: 100 -> 200"
};

/// Compares the typical times (steady-state medians) of every phase. A change counts when it exceeds three standard
/// deviations of the difference of the medians, as the recorded spreads give them, and `floor`: two runs differ by
/// clock and cache even where each is steady. Fewer than `fewest` steady samples on a side give `unknown`.
[[nodiscard]] Comparison compare_reports(const Value& before, const Value& after, double floor = 0.03,
                                         Index fewest = 4);

[[nodiscard]] std::string comparison_text(const Comparison& comparison);
[[nodiscard]] Value comparison_value(const Comparison& comparison);

}  // namespace sonde
