// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// The sum of items 0 to count - 1, added in pairs of neighbours, the pairs in pairs, and so on: the same bits in
/// whatever order the items arrive. What waits for its neighbour is kept; of items that arrive nearly in order few do.
/// T has operator+=.
template <class T>
class TreeSum {
 public:
  explicit TreeSum(Index count) : counts_{count} {
    while (counts_.back() > 1) counts_.push_back((counts_.back() + 1) / 2);
  }

  void add(Index item, T value) {
    std::size_t level = 0;
    for (; level + 1 < counts_.size(); ++level, item /= 2) {
      const Index neighbour = item ^ 1;
      if (neighbour >= counts_[level]) continue;  // the last one of an odd number goes up by itself
      const auto waiting = waiting_.find({level, neighbour});
      if (waiting == waiting_.end()) break;
      // The one to the left comes first: a + b of floating-point numbers is b + a, but T may be more than that.
      if (neighbour < item) std::swap(value, waiting->second);
      value += waiting->second;
      waiting_.erase(waiting);
    }
    waiting_.emplace(std::pair(level, item), std::move(value));
  }

  /// When all items are there.
  [[nodiscard]] T result() { return waiting_.empty() ? T{} : std::move(waiting_.begin()->second); }

 private:
  std::vector<Index> counts_;  ///< of items at each level
  std::map<std::pair<std::size_t, Index>, T> waiting_;
};

}  // namespace sonde::maxwell
