// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/ranks/ranks.h"

namespace sonde {

/// The sum of items 0 to count - 1, added in pairs of neighbours, the pairs in pairs, and so on: the same bits in
/// whatever order the items arrive, and whichever rank has them. What waits for its neighbour is kept; of items that
/// arrive nearly in order few do. T has operator+=.
template <class T>
class TreeSum {
 public:
  explicit TreeSum(Index count) : counts_{count} {
    while (counts_.back() > 1) counts_.push_back((counts_.back() + 1) / 2);
  }

  void add(Index item, T value) { add({0, item}, std::move(value)); }

  /// Where a sum belongs in the tree: the items [number 2^level, (number + 1) 2^level).
  struct Place {
    std::size_t level = 0;
    Index number = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  void add(Place at, T value) {
    for (; at.level + 1 < counts_.size(); ++at.level, at.number /= 2) {
      const Index neighbour = at.number ^ 1;
      if (neighbour >= counts_[at.level]) continue;  // the last one of an odd number goes up by itself
      const auto waiting = waiting_.find({at.level, neighbour});
      if (waiting == waiting_.end()) break;
      // The one to the left comes first: a + b of floating-point numbers is b + a, but T may be more than that.
      if (neighbour < at.number) std::swap(value, waiting->second);
      value += waiting->second;
      waiting_.erase(waiting);
    }
    waiting_.emplace(at, std::move(value));
  }

  /// Takes out what there is: of all items one sum, of a few few.
  [[nodiscard]] std::map<Place, T> take() { return std::exchange(waiting_, {}); }
  /// When all items are there.
  [[nodiscard]] T result() { return waiting_.empty() ? T{} : std::move(waiting_.begin()->second); }

 private:
  std::vector<Index> counts_;  ///< of items at each level
  std::map<Place, T> waiting_;
};

/// Numbers that are added one by one.
struct NumberSum {
  std::vector<double> values{};
  NumberSum& operator+=(const NumberSum& other);
};

/// The sum of all items on every rank, where each rank has added those that it has: the same bits for any number of
/// ranks. What each of them has left is sent to all: of neighbouring items about log2 of their number.
[[nodiscard]] std::vector<double> sum_over_ranks(TreeSum<NumberSum>& sum, const Ranks& ranks);

/// The items of a rank where each has neighbouring ones: [first, last).
struct Share {
  Index first = 0, last = 0;
};
[[nodiscard]] Share share_of(const Ranks& ranks, Index count);

}  // namespace sonde
