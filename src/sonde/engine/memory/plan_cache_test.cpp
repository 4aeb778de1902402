// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/plan_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sonde {
namespace {

struct Key {
  Index size = 0;
  std::string options{};
  friend bool operator==(const Key&, const Key&) = default;
};

struct Plan {
  explicit Plan(const Key& key) : size(key.size) {}
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(size); }
  Index size;
};

using Cache = PlanCache<Key, Plan>;

Cache::Shared plan_of(Cache& cache, const Key& key) {
  return cache.get(key, [&] { return std::make_shared<const Plan>(key); });
}

TEST(PlanCache, ASecondCallOfEqualKeyMakesNoPlan) {
  Cache cache(1000);
  const Cache::Shared first = plan_of(cache, {8, "measured"});
  EXPECT_EQ(plan_of(cache, {8, "measured"}), first);
  EXPECT_EQ(cache.prepared(), 1);
  EXPECT_EQ(cache.bytes(), 8u);
}

TEST(PlanCache, EveryPartOfAKeyMakesAPlanOfItsOwn) {
  Cache cache(1000);
  const Cache::Shared first = plan_of(cache, {8, "measured"});
  EXPECT_NE(plan_of(cache, {8, "quick"}), first);
  EXPECT_NE(plan_of(cache, {9, "measured"}), first);
  EXPECT_EQ(cache.prepared(), 3);
}

TEST(PlanCache, TheOneUsedLongestAgoGoesFirst) {
  Cache cache(100);
  for (const Index size : {40, 30, 20}) (void)plan_of(cache, {size});
  (void)plan_of(cache, {40});
  (void)plan_of(cache, {35});  // the room of 30 is enough
  EXPECT_EQ(cache.bytes(), 95u);
  EXPECT_EQ(cache.prepared(), 4);
  for (const Index size : {40, 20, 35}) (void)plan_of(cache, {size});
  EXPECT_EQ(cache.prepared(), 4) << "these were kept";
  (void)plan_of(cache, {30});
  EXPECT_EQ(cache.prepared(), 5) << "this was not";
}

TEST(PlanCache, APlanLargerThanTheLimitIsHandedOutAndReplacesNone) {
  Cache cache(50);
  (void)plan_of(cache, {40});
  EXPECT_EQ(plan_of(cache, {60})->size, 60);
  EXPECT_EQ(cache.bytes(), 40u);
  (void)plan_of(cache, {40});
  EXPECT_EQ(cache.prepared(), 2);
}

TEST(PlanCache, APlanThatGoesStaysWithThoseWhoHaveIt) {
  Cache cache(50);
  const Cache::Shared held = plan_of(cache, {40});
  (void)plan_of(cache, {30});
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(held->size, 40);
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(PlanCache, WhatMakingThrowsReachesTheCallerAndIsForgotten) {
  Cache cache(50);
  const auto fails = [&] { (void)cache.get({7}, []() -> Cache::Shared { throw std::runtime_error("no plan"); }); };
  EXPECT_THROW(fails(), std::runtime_error);
  EXPECT_EQ(plan_of(cache, {7})->size, 7);
  EXPECT_EQ(cache.prepared(), 2);
  EXPECT_EQ(cache.bytes(), 7u);
}

// The end of a plan may ask the cache again: plans end outside of its lock.
TEST(PlanCache, PlansEndOutsideOfTheLock) {
  struct Asking {
    PlanCache<int, Asking>* cache;
    ~Asking() { (void)cache->bytes(); }
    [[nodiscard]] static std::size_t bytes() { return 30; }
  };
  PlanCache<int, Asking> cache(50);
  for (const int key : {1, 2, 3}) (void)cache.get(key, [&] { return std::make_shared<const Asking>(Asking{&cache}); });
  EXPECT_EQ(cache.bytes(), 30u);
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(PlanCache, ThreadsThatAskForOneKeyGetOnePlan) {
  Cache cache(1000);
  constexpr int count = 8;
  std::latch all_here(count), all_have(count);
  std::atomic<int> made = 0;
  std::vector<Cache::Shared> plans(count);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        all_here.arrive_and_wait();
        plans[static_cast<std::size_t>(i)] = cache.get({5}, [&] {
          ++made;
          return std::make_shared<const Plan>(Key{5});
        });
        all_have.arrive_and_wait();
        for (Index size = 1; size < 200; ++size) (void)plan_of(cache, {size + i});  // others come and go
      });
  }
  EXPECT_EQ(made, 1);
  for (const Cache::Shared& plan : plans) EXPECT_EQ(plan, plans.front());
  EXPECT_LE(cache.bytes(), 1000u);
}

}  // namespace
}  // namespace sonde
