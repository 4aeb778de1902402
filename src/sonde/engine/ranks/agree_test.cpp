// SPDX-License-Identifier: Apache-2.0
// As ranks_test.cpp: with any number of ranks.
#include "sonde/engine/ranks/agree.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"

namespace sonde {
namespace {

TEST(AgreeingRanks, AllHearWhatTheLastOneSays) {
  const Ranks ranks = Ranks::world();
  EXPECT_FALSE(any_of(ranks, false));
  EXPECT_TRUE(any_of(ranks, ranks.rank() == ranks.size() - 1));
}

TEST(AgreeingRanks, StopTogetherWhenOneIsAskedTo) {
  const Ranks ranks = Ranks::world();
  EXPECT_NO_THROW(check_interrupt(ranks));
  if (ranks.rank() == ranks.size() - 1) request_interrupt(SIGINT);
  std::string said;
  try {
    check_interrupt(ranks);
  } catch (const Error& error) {
    said = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
  clear_interrupt();
  EXPECT_EQ(said, ranks.rank() == ranks.size() - 1 ? "error: interrupted; outputs that were not complete are removed"
                                                   : "error: another process was asked to stop");
}

TEST(AgreeingRanks, RankZeroHasTheLinesOfAll) {
  const Ranks ranks = Ranks::world();
  std::vector<std::string> mine{"rank " + std::to_string(ranks.rank())}, all;
  if (ranks.rank() == 0) mine.emplace_back();  // an empty line is one
  for (int rank = 0; ranks.rank() == 0 && rank < ranks.size(); ++rank) {
    all.push_back("rank " + std::to_string(rank));
    if (rank == 0) all.emplace_back();
  }
  EXPECT_EQ(gather_lines(ranks, mine), all);
}

}  // namespace
}  // namespace sonde
