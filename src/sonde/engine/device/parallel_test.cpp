// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"

namespace sonde {
namespace {

/// Sets the number of threads for one test.
struct Threads {
  explicit Threads(int count) { set_thread_count(count); }
  ~Threads() { set_thread_count(0); }
};

class ParallelFor : public ::testing::TestWithParam<int> {};

TEST_P(ParallelFor, EveryIndexIsVisitedOnce) {
  const Threads threads(GetParam());
  std::vector<int> visits(1001);
  parallel_for(1001, 7, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(visits, std::vector<int>(1001, 1));
}

TEST_P(ParallelFor, PiecesDoNotDependOnTheThreads) {
  const Threads threads(GetParam());
  std::vector<Index> lasts(4);
  parallel_for(10, 3, [&](Index first, Index last, Worker&) { lasts[static_cast<std::size_t>(first / 3)] = last; });
  EXPECT_EQ(lasts, (std::vector<Index>{3, 6, 9, 10}));
}

TEST_P(ParallelFor, TheFirstExceptionReachesTheCaller) {
  const Threads threads(GetParam());
  EXPECT_THROW(parallel_for(100, 1,
                            [](Index first, Index, Worker&) {
                              if (first == 37) throw std::runtime_error("37");
                            }),
               std::runtime_error);
}

TEST_P(ParallelFor, CancelledWorkStopsBetweenPieces) {
  const Threads threads(GetParam());
  Cancel cancel;
  const CancelScope scope(&cancel);
  std::atomic<Index> pieces{0};
  const auto loop = [&] {
    parallel_for(1000, 1, [&](Index, Index, Worker&) {
      parallel_for(10, 1, [&](Index, Index, Worker&) {});  // a loop inside hears of it too
      if (++pieces == 10) cancel.request();
    });
  };
  EXPECT_THROW(loop(), Error);
  // Each thread may have begun one more.
  EXPECT_LE(pieces, 10 + GetParam());
}

TEST_P(ParallelFor, NestedLoopsKeepScratchApart) {
  const Threads threads(GetParam());
  PerWorker<Index> scratch([] { return Index{0}; });
  std::atomic<Index> clashes{0}, total{0};
  parallel_for(16, 1, [&](Index outer, Index, Worker& worker) {
    scratch[worker] = outer;
    parallel_for(8, 1, [&](Index, Index, Worker&) { ++total; });
    if (scratch[worker] != outer) ++clashes;
  });
  EXPECT_EQ(total, 128);
  EXPECT_EQ(clashes, 0);
}

TEST_P(ParallelFor, CallersAtTheSameTimeHaveIndicesBelowTheLimit) {
  const Threads threads(GetParam());
  std::atomic<int> largest{0};
  const auto call = [&] {
    for (int loop = 0; loop < 200; ++loop)
      parallel_for(50, 1, [&](Index first, Index, Worker& worker) {
        volatile double work = 1;
        for (int i = 0; i < 200; ++i) work = work + static_cast<double>(first);
        int before = largest;
        while (before < worker.index && !largest.compare_exchange_weak(before, worker.index)) {
        }
      });
  };
  {
    const std::jthread reader(call), other(call);
    call();
  }
  EXPECT_LT(largest, worker_limit());
}

TEST_P(ParallelFor, NothingToDoCallsNothing) {
  const Threads threads(GetParam());
  parallel_for(0, 4, [](Index, Index, Worker&) { FAIL(); });
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, ::testing::Values(1, 2, 4));

}  // namespace
}  // namespace sonde
