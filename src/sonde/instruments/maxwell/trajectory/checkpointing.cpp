// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/checkpointing.h"

#include <algorithm>
#include <limits>

namespace sonde::maxwell {
namespace {

/// (s + r)! / (s! r!): the longest run that s states and r repetitions reverse. Large values are cut off.
Index longest(Index s, Index r) {
  constexpr double most = static_cast<double>(std::numeric_limits<Index>::max() / 4);
  double made = 1;
  for (Index i = 1; i <= r; ++i) made = made * static_cast<double>(s + i) / static_cast<double>(i);
  return made < most ? static_cast<Index>(made + 0.5) : static_cast<Index>(most);
}

/// The fewest repetitions that do.
Index repetitions(Index blocks, Index states) {
  Index r = 0;
  while (longest(states, r) < blocks) ++r;
  return r;
}

}  // namespace

Index blocks_to_next_state(Index blocks, Index free) {
  const Index states = free + 1, r = repetitions(blocks, states);
  return std::min(longest(states, r - 1), blocks - longest(states - 1, r - 1));
}

Index blocks_run_forwards(Index blocks, Index states) {
  if (blocks <= 1) return blocks;
  // Each block is run to be reversed; the formula of the paper counts what goes before that.
  const Index r = repetitions(blocks, states);
  return blocks + r * blocks - longest(states + 1, r - 1);
}

}  // namespace sonde::maxwell
