// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

/// Several threads for one test.
struct Threads {
  explicit Threads(int count) { set_thread_count(count); }
  ~Threads() { set_thread_count(0); }
};

TEST(SideBySide, EveryOneWorksOnce) {
  const Threads threads(3);
  for (const Index at_once : {1, 2, 3, 9}) {
    SCOPED_TRACE(at_once);
    std::vector<Index> made(7);
    side_by_side(7, at_once, [&](Index i) { ++made[static_cast<std::size_t>(i)]; });
    EXPECT_EQ(made, std::vector<Index>(7, 1));
  }
}

// oneTBB ends the loops inside the others, without their notice, when an exception leaves one of a loop's pieces.
TEST(SideBySide, AnErrorOfOneLeavesTheLoopsOfTheOthersWhole) {
  const Threads threads(2);
  std::atomic<bool> thrown{false}, begun{false};
  Index summed = 0;
  EXPECT_THAT(::sonde::testing::error_of(ErrorKind::io,
                                         [&] {
                                           side_by_side(8, 2, [&](Index i) {
                                             if (i == 0) {
                                               while (!begun) continue;
                                               thrown = true;
                                               throw Error(ErrorKind::io, "the disk is full");
                                             }
                                             begun = true;
                                             while (!thrown) continue;
                                             for (int n = 0; n < 100; ++n) {
                                               std::atomic<Index> pieces{0};
                                               parallel_for(20, 1, [&](Index, Index, Worker&) { ++pieces; });
                                               summed += pieces;
                                             }
                                           });
                                         }),
              ::testing::HasSubstr("the disk is full"));
  EXPECT_EQ(summed, 2000) << "one other was at work, and no further one began";
}

TEST(ChooseAtOnce, IsLimitedByTriesThreadsSettingsAndMemory) {
  const auto chosen = [](Index tries, Index threads, Index most, std::size_t host) {
    return choose_at_once(tries, threads, most, host, [](Index n) { return static_cast<std::size_t>(100 + 10 * n); });
  };
  EXPECT_EQ(chosen(5, 4, 0, 1000).value, 4);
  EXPECT_EQ(chosen(3, 4, 0, 1000).value, 3);
  EXPECT_EQ(chosen(3, 4, 0, 1000).because, "no more are left");
  EXPECT_EQ(chosen(5, 4, 2, 1000).value, 2);
  EXPECT_EQ(chosen(5, 4, 9, 1000).value, 4);
  EXPECT_EQ(chosen(5, 4, 0, 125).value, 2);
  EXPECT_THAT(chosen(5, 4, 0, 125).because, ::testing::HasSubstr("3 need 130 B"));
  EXPECT_EQ(chosen(5, 4, 0, 50).value, 1) << "whether one fits is another question";
  EXPECT_EQ(chosen(5, 1, 0, 1000).because, "one thread computes");
}

}  // namespace
}  // namespace sonde::ptycho
