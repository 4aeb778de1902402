// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/time_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

namespace sonde::stem {
namespace {

std::vector<Hit> hits_at(const std::vector<Ticks>& times) {
  std::vector<Hit> hits;
  for (const Ticks time : times) hits.push_back({.time = time, .tot = static_cast<std::uint16_t>(hits.size())});
  return hits;
}
std::vector<Ticks> times_of(const std::vector<Hit>& hits) {
  std::vector<Ticks> times;
  for (const Hit& hit : hits) times.push_back(hit.time);
  return times;
}
using Times = std::vector<Ticks>;

TEST(SortByTime, IsStable) {
  for (const Ticks range : {Ticks{3}, Ticks{2000}, Ticks{1} << 30, Ticks{1} << 55}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(range));
    Times times;
    for (int i = 0; i < 3000; ++i)
      times.push_back(static_cast<Ticks>(random() % static_cast<std::uint64_t>(range)) - range / 3);
    std::vector<Hit> hits = hits_at(times), expected = hits, scratch;
    std::stable_sort(expected.begin(), expected.end(), [](const Hit& a, const Hit& b) { return a.time < b.time; });
    sort_by_time(hits, scratch);
    for (std::size_t i = 0; i < hits.size(); ++i) {
      ASSERT_EQ(hits[i].time, expected[i].time);
      ASSERT_EQ(hits[i].tot, expected[i].tot);
    }
  }
}

TEST(TimeOrder, HitsWaitForEarlierOnes) {
  TimeOrder order;
  order.add({.hits = hits_at({50, 10, 90, 30})});
  order.release(40, 40);
  EXPECT_EQ(times_of(order.hits()), (Times{10, 30}));
  EXPECT_EQ(order.waiting(), 2U);
  order.add({.hits = hits_at({45, 40, 100})});
  order.release(95, 95);
  EXPECT_EQ(times_of(order.hits()), (Times{40, 45, 50, 90}));
  EXPECT_EQ(order.late_hits(), 0U);
}

TEST(TimeOrder, LateHitsAndEdgesAreCounted) {
  TimeOrder order;
  order.add({.hits = hits_at({50})});
  order.release(60, 70);
  order.add(
      {.hits = hits_at({59, 60}), .edges = {{69 * 6 + 5, TdcChannel::tdc1_rise}, {70 * 6, TdcChannel::tdc1_rise}}});
  order.release(80, 80);
  EXPECT_EQ(times_of(order.hits()), (Times{60}));
  ASSERT_EQ(order.edges().size(), 1U);
  EXPECT_EQ(order.edges()[0].time, 420);
  EXPECT_EQ(order.late_hits(), 1U);
  EXPECT_EQ(order.late_edges(), 1U);
}

TEST(TimeOrder, NeverGoesBack) {
  TimeOrder order;
  order.release(100, 100);
  order.add({.hits = hits_at({99, 100})});
  order.release(50, 50);
  EXPECT_TRUE(order.hits().empty());
  order.release(101, 101);
  EXPECT_EQ(times_of(order.hits()), (Times{100}));
}

TEST(TimeOrder, HoldsABoundedNumber) {
  TimeOrder order(1000);
  PacketBlock block;
  block.hits.assign(300, Hit{.time = 7});
  std::size_t released = 0;
  for (int i = 0; i < 6; ++i) {
    order.add(block);
    order.release(0, 0);
    released += order.hits().size();
    EXPECT_LE(order.waiting(), 1000U);
  }
  EXPECT_GT(released, 0U);
}

}  // namespace
}  // namespace sonde::stem
