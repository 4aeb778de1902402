// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/scan_clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::stem {
namespace {

constexpr Index lines = 3, steps = 5;

TEST(ScanClock, PositionsBeginAtMultiplesOfTheDwell) {
  ScanClock clock = ScanClock::steady(lines, steps, 3840, 1000);
  EXPECT_EQ(clock.at(999), ScanClock::before);
  for (Index p = 0; p < lines * steps; ++p) {
    EXPECT_EQ(clock.at(1000 + 3840 * p), p);
    EXPECT_EQ(clock.at(1000 + 3840 * (p + 1) - 1), p);
  }
  EXPECT_EQ(clock.at(1000 + 3840 * lines * steps), ScanClock::after);
}

TEST(ScanClock, AreExactAfterDays) {
  const Index side = 1 << 20;
  ScanClock clock = ScanClock::steady(side, side, 7, 0);
  const FineTicks far = 7 * (side * side - 1);  // 2^42.8
  EXPECT_EQ(clock.at(far - 1), side * side - 2);
  EXPECT_EQ(clock.at(far), side * side - 1);
}

TEST(ScanClock, ADwellNeedNotBeWhole) {
  ScanClock clock = ScanClock::steady(lines, steps, 2.5, 0);
  const std::vector<Index> expected = {0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4};
  for (std::size_t t = 0; t < expected.size(); ++t) EXPECT_EQ(clock.at(static_cast<FineTicks>(t)), expected[t]) << t;
}

TEST(ScanClock, LinesBeginAtTheirEdges) {
  ScanClock clock = ScanClock::by_lines(lines, steps, 10, 4);
  for (const FineTicks edge : {100, 170, 260}) clock.begin_line(edge);
  EXPECT_EQ(clock.at(103), ScanClock::before);
  EXPECT_EQ(clock.at(104), 0);
  EXPECT_EQ(clock.at(153), 4);
  EXPECT_EQ(clock.at(154), ScanClock::flyback);
  EXPECT_EQ(clock.at(173), ScanClock::flyback);
  EXPECT_EQ(clock.at(174), 5);
  EXPECT_EQ(clock.at(264 + 49), 14);
  EXPECT_EQ(clock.at(264 + 50), ScanClock::after);
}

TEST(ScanClock, AnEarlyEdgeEndsALine) {
  ScanClock clock = ScanClock::by_lines(lines, steps, 10, 0);
  for (const FineTicks edge : {0, 35, 70, 105}) clock.begin_line(edge);
  EXPECT_EQ(clock.at(34), 3);
  EXPECT_EQ(clock.at(35), 5);
  EXPECT_EQ(clock.at(104), 13);
  EXPECT_EQ(clock.at(105), ScanClock::after);
}

TEST(ScanClock, ReachesWhatBegan) {
  ScanClock steady = ScanClock::steady(lines, steps, 10, 100);
  EXPECT_EQ(steady.reached(99), 0);
  EXPECT_EQ(steady.reached(100), 1);
  EXPECT_EQ(steady.reached(129), 3);
  EXPECT_EQ(steady.reached(100'000), lines * steps);
  ScanClock by_lines = ScanClock::by_lines(lines, steps, 10, 0);
  EXPECT_EQ(by_lines.reached(5), 0);
  by_lines.begin_line(10);
  by_lines.begin_line(80);
  EXPECT_EQ(by_lines.reached(10), 1);
  EXPECT_EQ(by_lines.reached(75), steps);
  EXPECT_EQ(by_lines.reached(91), steps + 2);
}

}  // namespace
}  // namespace sonde::stem
