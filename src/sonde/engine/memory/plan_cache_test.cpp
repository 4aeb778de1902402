// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/plan_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "sonde/engine/base/error.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

struct Key {
  Index rows = 0;
  std::size_t bytes = 10;
  bool broken = false;
  friend bool operator==(const Key&, const Key&) = default;
};

struct Plan {
  Index rows;
  std::size_t held;
  static Plan prepare(const Key& key) {
    if (key.broken) throw Error(ErrorKind::bad_input, "no such plan");
    return {key.rows, key.bytes};
  }
  [[nodiscard]] std::size_t bytes() const { return held; }
};

TEST(PlanCache, AnEqualKeyPreparesNothing) {
  PlanCache<Key, Plan> cache(100);
  const auto first = cache.get({1});
  EXPECT_EQ(first->rows, 1);
  EXPECT_EQ(cache.get({1}), first);
  EXPECT_NE(cache.get({2}), first);
  EXPECT_EQ(cache.prepared(), 2);
  EXPECT_EQ(cache.bytes(), 20u);
}

TEST(PlanCache, WhatWasUsedLongestAgoLeavesFirst) {
  PlanCache<Key, Plan> cache(25);
  (void)cache.get({1});
  const auto held = cache.get({2});
  (void)cache.get({1});  // now 2 is the older one
  (void)cache.get({3});
  EXPECT_EQ(cache.bytes(), 20u);
  EXPECT_EQ(held->rows, 2) << "a plan in use lives on";
  (void)cache.get({1});
  EXPECT_EQ(cache.prepared(), 3);
  (void)cache.get({2});
  EXPECT_EQ(cache.prepared(), 4);
}

TEST(PlanCache, APlanAboveTheLimitIsKeptWhileItIsTheNewest) {
  PlanCache<Key, Plan> cache(25);
  (void)cache.get({1});
  (void)cache.get({.rows = 2, .bytes = 1000});
  EXPECT_EQ(cache.bytes(), 1000u);
  (void)cache.get({.rows = 2, .bytes = 1000});
  EXPECT_EQ(cache.prepared(), 2);
  (void)cache.get({3});
  EXPECT_EQ(cache.bytes(), 10u);
}

TEST(PlanCache, AFailureReachesTheCallerAndIsTriedAgain) {
  PlanCache<Key, Plan> cache(100);
  for (int i = 0; i < 2; ++i)
    testing::error_of(ErrorKind::bad_input, [&] { (void)cache.get({.rows = 1, .broken = true}); });
  EXPECT_EQ(cache.prepared(), 2);
  EXPECT_EQ(cache.bytes(), 0u);
}

/// A plan whose preparation waits until another key's has begun too.
struct Meeting {
  static inline std::latch both{2};
  static Meeting prepare(const Index&) {
    both.arrive_and_wait();
    return {};
  }
  [[nodiscard]] static std::size_t bytes() { return 1; }
};

TEST(PlanCache, DifferentKeysArePreparedAtTheSameTime) {
  PlanCache<Index, Meeting> cache(100);
  const std::jthread other([&] { (void)cache.get(1); });
  (void)cache.get(2);  // would wait for ever
}

/// Counts how often it is prepared.
struct Counted {
  static inline std::atomic<int> count{0};
  static Counted prepare(const Index&) {
    ++count;
    return {};
  }
  [[nodiscard]] static std::size_t bytes() { return 1; }
};

TEST(PlanCache, ThreadsThatAskForOneKeyShareOnePreparation) {
  PlanCache<Index, Counted> cache(100);
  std::vector<std::shared_ptr<const Counted>> plans(8);
  {
    std::latch started{8};
    std::vector<std::jthread> threads;
    for (auto& plan : plans)
      threads.emplace_back([&] {
        started.arrive_and_wait();
        plan = cache.get(7);
      });
  }
  EXPECT_EQ(Counted::count, 1);
  for (const auto& plan : plans) EXPECT_EQ(plan, plans.front());
}

}  // namespace
}  // namespace sonde
