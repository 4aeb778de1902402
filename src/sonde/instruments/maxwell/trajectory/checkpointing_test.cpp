// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/checkpointing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::maxwell {
namespace {

/// The fewest blocks run forwards, by trying every place of the next state.
Index fewest(Index blocks, Index states) {
  static std::map<std::pair<Index, Index>, Index> known;
  if (blocks == 1) return 1;
  if (states == 1) return blocks * (blocks + 1) / 2;
  const auto key = std::pair(blocks, states);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Index best = blocks * (blocks + 1) / 2;
  for (Index m = 1; m < blocks; ++m) best = std::min(best, m + fewest(blocks - m, states - 1) + fewest(m, states));
  return known[key] = best;
}

/// Blocks run when each next state is where blocks_to_next_state() says.
Index run_by_schedule(Index blocks, Index states) {
  if (blocks == 1) return 1;
  if (states == 1) return blocks * (blocks + 1) / 2;
  const Index m = blocks_to_next_state(blocks, states - 1);
  return m + run_by_schedule(blocks - m, states - 1) + run_by_schedule(m, states);
}

TEST(Checkpointing, RunsAsFewBlocksAsAnySchedule) {
  for (Index states = 1; states <= 6; ++states)
    for (Index blocks = 1; blocks <= 40; ++blocks) {
      EXPECT_EQ(blocks_run_forwards(blocks, states), fewest(blocks, states)) << blocks << " with " << states;
      EXPECT_EQ(run_by_schedule(blocks, states), fewest(blocks, states)) << blocks << " with " << states;
    }
}

TEST(Checkpointing, ReversesTenThousandBlocksFromTenStatesInSixRepetitions) {
  // C(10 + 6, 6) = 8008 < 10000 <= C(10 + 7, 7) = 19448: between 6 and 7 repetitions.
  const double each = static_cast<double>(blocks_run_forwards(10000, 10)) / 10000;
  EXPECT_GT(each, 6);
  EXPECT_LT(each, 8);
}

}  // namespace
}  // namespace sonde::maxwell
