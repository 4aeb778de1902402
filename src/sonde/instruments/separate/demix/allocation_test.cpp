// SPDX-License-Identifier: Apache-2.0
// What is taken of memory while a signal is separated: nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "sonde/instruments/separate/demix/demixer.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/network/test_cases.h"

namespace {
std::atomic<long> allocations{0};
}  // namespace

// Every `new` of this program, on all threads. Not inlined: the compiler would see malloc where it expects new.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const made = std::malloc(size)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace sonde::separate {
namespace {

TEST(AllocationsOfADemixer, AreNoneOnceItIsMade) {
  for (const Index overlap : {1, 2, 4}) {
    const ReferenceCase of = case_a();
    Plan plan = Plan::prepare(of.config, formula_values(of.config, of.seed));
    Index sent = 0;
    Demixer demixer(
        {.channels = 2, .stems = 3, .chunk = of.config.chunk, .overlap = overlap},
        [&](View<const float, 2> samples, View<float, 3> stems) { plan.run(samples, stems); },
        [&](View<const float, 2>, View<const float, 3> stems) { sent += stems.extent[2]; });
    const std::vector<float> samples(static_cast<std::size_t>(2 * 4 * of.config.chunk), 0.1F);
    const View<const float, 2> part(samples.data(), 2, 4 * of.config.chunk);
    // A worker of the pool takes memory when it first works, which may be late: the least of several parts counts.
    constexpr int parts = 4;
    long least = std::numeric_limits<long>::max();
    for (int i = 0; i < parts; ++i) {
      const long before = allocations;
      demixer.push(part);
      if (i == parts - 1) demixer.finish();
      EXPECT_GT(before, 0);
      least = std::min(least, allocations - before);
    }
    EXPECT_EQ(least, 0) << "overlap " << overlap;
    EXPECT_EQ(sent, parts * 4 * of.config.chunk);
  }
}

}  // namespace
}  // namespace sonde::separate
