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
  for (int i = 0; i < 1000; ++i) refusals.note(Reason::host, "refused a");
  refusals.note(Reason::origin, "refused b");
  now = 9.9;
  refusals.note(Reason::host, "refused c");
  now = 10;
  refusals.note(Reason::host, "refused d");
  EXPECT_THAT(log.lines(), ElementsAre("refused a", "refused b", "refused d (and 1000 like it before)"));
  EXPECT_EQ(refusals.count(), 1003U);
}

TEST(Refusals, WhatWasLeftOutIsToldInTheEnd) {
  const TestLog log;
  double now = 0;
  Refusals refusals([&now] { return now; });
  for (const char* text : {"refused a", "refused b", "refused c"}) refusals.note(Reason::token, text);
  refusals.note(Reason::bad_json, "ended client 1");
  now = 9.9;
  refusals.flush(false);
  EXPECT_THAT(log.lines(), ElementsAre("refused a", "ended client 1"));
  now = 10;
  refusals.flush(false);
  refusals.flush(false);
  EXPECT_THAT(log.lines(), ElementsAre("refused a", "ended client 1", "refused c (and 1 like it before)"));
  refusals.note(Reason::token, "refused d");  // the ten seconds begin anew
  refusals.note(Reason::bad_json, "ended client 2");
  refusals.flush(true);
  EXPECT_THAT(log.lines(), ElementsAre("refused a", "ended client 1", "refused c (and 1 like it before)",
                                       "ended client 2", "refused d"));
}

TEST(Refusals, LinesAreShort) {
  const TestLog log;
  Refusals refusals;
  refusals.note(Reason::path, std::string(100'000, 'x'));
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_LE(log.lines()[0].size(), 400U);
}

TEST(Refusals, WhatStrangersSendCannotForgeLines) {
  EXPECT_EQ(printable("evil\r\nnote: all is well\x1b[2J\xff"), "evil??note: all is well?[2J?");
  EXPECT_EQ(printable(std::string(100, 'x'), 4), "xxxx...");
}

}  // namespace
}  // namespace sonde::serve
