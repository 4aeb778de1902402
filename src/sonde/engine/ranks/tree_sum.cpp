// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/ranks/tree_sum.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace sonde {

NumberSum& NumberSum::operator+=(const NumberSum& other) {
  values.resize(std::max(values.size(), other.values.size()));
  for (std::size_t i = 0; i < other.values.size(); ++i) values[i] += other.values[i];
  return *this;
}

std::vector<double> sum_over_ranks(TreeSum<NumberSum>& sum, const Ranks& ranks) {
  if (ranks.size() > 1) {
    std::map<TreeSum<NumberSum>::Place, NumberSum> mine = sum.take();
    for (int root = 0; root < ranks.size(); ++root) {
      std::vector<std::int64_t> count{static_cast<std::int64_t>(mine.size())};
      ranks.broadcast(std::span(count), root);
      auto next = mine.begin();
      for (std::int64_t i = 0; i < count[0]; ++i) {
        std::vector<std::int64_t> place(3);
        if (ranks.rank() == root)
          place = {static_cast<std::int64_t>(next->first.level), next->first.number,
                   static_cast<std::int64_t>(next->second.values.size())};
        ranks.broadcast(std::span(place), root);
        NumberSum values;
        if (ranks.rank() == root)
          values = (next++)->second;
        else
          values.values.resize(static_cast<std::size_t>(place[2]));
        ranks.broadcast(std::span(values.values), root);
        sum.add({static_cast<std::size_t>(place[0]), place[1]}, std::move(values));
      }
    }
  }
  return sum.result().values;
}

Share share_of(const Ranks& ranks, Index count) {
  const Index rank = ranks.rank(), size = ranks.size();
  return {count * rank / size, count * (rank + 1) / size};
}

}  // namespace sonde
