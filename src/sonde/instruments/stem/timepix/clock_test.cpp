// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/clock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace sonde::stem {
namespace {

constexpr Ticks second = ticks_per_s;

std::uint64_t counter(Ticks time, int bits) {
  const Ticks period = Ticks{1} << bits;
  return static_cast<std::uint64_t>((time % period + period) % period);
}
Ticks hit(WrapClock& clock, Ticks time) { return clock.hit(counter(time, 34)); }
Ticks edge(WrapClock& clock, Ticks time) { return clock.edge(counter(time, 36)); }
void global(WrapClock& clock, Ticks time) {
  const auto coarse = static_cast<std::uint64_t>(time / 16);
  clock.global_low(coarse & 0xffffffff);
  clock.global_high(coarse >> 32);
}

TEST(WrapClock, PeriodsAreThoseOfTheManual) {
  EXPECT_EQ(static_cast<double>(Ticks{1} << hit_bits) / ticks_per_s, 26.8435456);
  EXPECT_NEAR(static_cast<double>(Ticks{1} << edge_bits) / ticks_per_s, 107.374182, 1e-6);  // six digits are printed
}

TEST(WrapClock, HitsAreCountedOnThroughManyPeriods) {
  WrapClock clock;
  for (Ticks time = 3 * second; time < 400 * second; time += second / 3) EXPECT_EQ(hit(clock, time), time);
  EXPECT_EQ(clock.latest(), 3 * second + (400 - 3) * second / (second / 3) * (second / 3));
}

TEST(WrapClock, HitsBeforeAWrapMayComeAfterIt) {
  WrapClock clock;
  const Ticks wrap = Ticks{1} << 34;
  EXPECT_EQ(hit(clock, wrap - 5000), wrap - 5000);
  EXPECT_EQ(hit(clock, wrap + 10), wrap + 10);
  EXPECT_EQ(hit(clock, wrap - 60'000), wrap - 60'000);
  EXPECT_EQ(clock.latest(), wrap + 10);
}

TEST(WrapClock, AGapUpToASecondLessThanAPeriodIsSeen) {
  WrapClock clock;
  EXPECT_EQ(hit(clock, second), second);
  const Ticks later = second + 25 * second;
  EXPECT_EQ(hit(clock, later), later);
  EXPECT_EQ(hit(clock, later + 5), later + 5);
  EXPECT_EQ(clock.latest(), later + 5);
}

TEST(WrapClock, EdgesAreOnTheClockOfHitsThroughBothWraps) {
  WrapClock clock;
  const Ticks begin = 80 * second;  // of the true time; hits show it without 2 x 26.8 s, edges do not
  const Ticks shift = begin - hit(clock, begin);
  EXPECT_EQ(shift % (Ticks{1} << 34), 0);
  for (Ticks time = begin; time < begin + 300 * second; time += second / 2) {
    EXPECT_EQ(edge(clock, time), time - shift);
    EXPECT_EQ(hit(clock, time + 7), time + 7 - shift);
  }
}

TEST(WrapClock, AnEdgeThatComesFirstGivesTheTime) {
  WrapClock clock;
  EXPECT_EQ(edge(clock, 80 * second), 80 * second);
  EXPECT_EQ(hit(clock, 80 * second + 100), 80 * second + 100);
}

TEST(WrapClock, EdgesBridgeAGapThatHitsCannot) {
  WrapClock clock;
  EXPECT_EQ(edge(clock, second), second);
  EXPECT_EQ(hit(clock, second + 3), second + 3);
  const Ticks later = 95 * second;
  EXPECT_EQ(edge(clock, later), later);
  EXPECT_EQ(hit(clock, later + 3), later + 3);  // agrees with the edge, so the clock moves
  EXPECT_EQ(clock.latest(), later + 3);
}

TEST(WrapClock, GlobalTimeBridgesTenMinutes) {
  WrapClock clock;
  global(clock, 5 * second);
  EXPECT_EQ(hit(clock, 5 * second + 3), 5 * second + 3);
  const Ticks later = 605 * second;
  global(clock, later);
  EXPECT_EQ(hit(clock, later + 3), later + 3);
  EXPECT_EQ(edge(clock, later + 9), later + 9);
}

TEST(WrapClock, GlobalTimeThatStartsLaterDoesNotMoveTheClock) {
  WrapClock clock;
  const Ticks begin = 3000 * second;
  const Ticks shift = begin - hit(clock, begin);
  global(clock, begin + 10);
  EXPECT_EQ(hit(clock, begin + 20), begin + 20 - shift);
  global(clock, begin + 500 * second);
  EXPECT_EQ(hit(clock, begin + 500 * second + 20), begin + 500 * second + 20 - shift);
}

TEST(WrapClock, OneDamagedWordDoesNotMoveTheClock) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    WrapClock clock;
    Ticks time = 10 * second;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(hit(clock, time += 1000), time);
    if (trial % 2 == 0)
      (void)clock.hit(random() & ((std::uint64_t{1} << 34) - 1));
    else
      (void)clock.edge(random() & ((std::uint64_t{1} << 36) - 1));
    if (clock.latest() - time > second) ADD_FAILURE() << trial;
    if (clock.latest() > time) continue;  // a damaged time within the next second looks like a good one
    for (int i = 0; i < 5; ++i) EXPECT_EQ(hit(clock, time += 1000), time);
  }
}

TEST(WrapClock, AnyWordsKeepTimeWithinItsLimits) {
  std::mt19937_64 random(3);
  WrapClock clock;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t word = random();
    const int kind = static_cast<int>(word >> 62);
    if (kind == 0) (void)clock.hit(word & ((std::uint64_t{1} << 34) - 1));
    if (kind == 1) (void)clock.edge(word & ((std::uint64_t{1} << 36) - 1));
    if (kind == 2) clock.global_low(word & 0xffffffff);
    if (kind == 3) clock.global_high(word & 0xffff);
    ASSERT_LE(clock.latest(), Ticks{1} << 57);
  }
}

}  // namespace
}  // namespace sonde::stem
