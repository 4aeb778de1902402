// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/app/serve/test_log.h"

namespace sonde::serve {
namespace {

using ::testing::ElementsAre;

TEST(Refusals, AFloodIsOneLineInTenSeconds) {
  const TestLog log;
  double now = 0;
  Refusals refusals([&now] { return now; });
  for (int i = 0; i < 1000; ++i) refusals.note("host", "refused a");
  refusals.note("origin", "refused b");
  now = 9.9;
  refusals.note("host", "refused c");
  now = 10;
  refusals.note("host", "refused d");
  EXPECT_THAT(log.lines(), ElementsAre("refused a", "refused b", "refused d (and 1000 like it before)"));
  EXPECT_EQ(refusals.count(), 1003U);
}

TEST(Refusals, WhatStrangersSendCannotForgeLines) {
  EXPECT_EQ(printable("evil\r\nnote: all is well\x1b[2J\xff"), "evil??note: all is well?[2J?");
  EXPECT_EQ(printable(std::string(100, 'x'), 4), "xxxx...");
}

}  // namespace
}  // namespace sonde::serve
