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

}  // namespace
}  // namespace sonde
