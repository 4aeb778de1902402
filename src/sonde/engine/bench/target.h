// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/options/value.h"

namespace sonde {

/// What was promised of a ratio of two medians of one case: "gd on two threads takes at most 1.25 times as long as F";
/// of the most memory that was held; or of the time of one item of an operation (Operation::items).
struct Target {
  /// An operation of the case or one of its peers, which is timed beside the operations on as many threads.
  struct Time {
    std::string operation;  ///< or a peer
    int workers = 0;        ///< 0: on every number that was run, the same for both times
  };
  enum class Bound { at_most, at_least };
  /// An operation's memory is that of the whole point; of item_time `limit` is in seconds, and nothing is compared
  /// with.
  enum class What { time, peak_memory, item_time };

  std::string name;  ///< "T2"
  Time of, over;
  double limit = 0;
  Bound bound = Bound::at_most;
  What what = What::time;
  std::string size = {};  ///< the one size that it was set for; empty: every size of the case
};

/// Targets beside what was measured; `points` are results of run_bench_point, and only those of `sizes` count, which
/// targets were set for. A row for every size, and every number of threads where a target leaves that open:
///   {"target", "size", "of", "over", "ratio", "uncertainty", "bound", "limit", "met"}
/// with "seconds" in place of "over" and "ratio" for the time of an item,
/// or {"target", "size", "of", "over", "absent"}, what is missing, where not both times were measured.
[[nodiscard]] Value judge_targets(const std::vector<Target>& targets, const Value& points,
                                  const std::vector<std::string>& sizes);

/// Those rows as lines for people.
[[nodiscard]] std::string targets_text(const Value& rows);

}  // namespace sonde
