// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "sonde/engine/base/error.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using Numbers = Feed<int>;

/// Fills blocks with 0, 1, ..., count - 1.
Numbers::Fill counting_to(int count) {
  return [count, next = 0](int& block) mutable {
    if (next == count) return false;
    block = next++;
    return true;
  };
}

TEST(Feed, DeliversEveryBlockInOrder) {
  Numbers feed(std::vector<int>(3), counting_to(1000));
  int expected = 0;
  while (const auto block = feed.next()) EXPECT_EQ(*block, expected++);
  EXPECT_EQ(expected, 1000);
  EXPECT_FALSE(feed.next());
}

TEST(Feed, EmptyEndsAtOnce) {
  Numbers feed(std::vector<int>(2), counting_to(0));
  EXPECT_FALSE(feed.next());
}

TEST(Feed, ReadsAheadOfTheUser) {
  std::promise<void> second_read;
  Numbers feed(std::vector<int>(2), [&, next = 0](int& block) mutable {
    block = next++;
    if (block == 1) second_read.set_value();
    return block < 2;
  });
  second_read.get_future().wait();  // would never come if block 1 waited for block 0 to be used
  const auto block = feed.next();
  EXPECT_EQ(*block, 0);
}

TEST(Feed, NeverOverwritesBlocksInUse) {
  Numbers feed(std::vector<int>(4), counting_to(50));
  auto first = feed.next(), second = feed.next(), third = feed.next();
  while (const auto block = feed.next()) EXPECT_GE(*block, 3);
  EXPECT_EQ(*first, 0);
  EXPECT_EQ(*second, 1);
  EXPECT_EQ(*third, 2);
}

TEST(Feed, IsNeverMoreThanItsBlocksAhead) {
  std::atomic<int> used = 0;
  std::atomic<int> furthest = 0;
  Numbers feed(std::vector<int>(3), [&, next = 0](int& block) mutable {
    if (next == 200) return false;
    const int ahead = next - used.load();
    if (ahead > furthest.load()) furthest = ahead;
    block = next++;
    return true;
  });
  while (auto block = feed.next()) ++used;
  EXPECT_LE(furthest.load(), 3);
}

TEST(Feed, BlocksMayBeHandedBackByOtherThreads) {
  Numbers feed(std::vector<int>(3), counting_to(300));
  long long sum = 0;
  while (auto block = feed.next()) {
    std::jthread worker([&sum, lease = std::move(block)] { sum += *lease; });
  }
  EXPECT_EQ(sum, 300 * 299 / 2);
}

TEST(Feed, FailureOfTheReaderComesAfterTheBlocksBeforeIt) {
  Numbers feed(std::vector<int>(3), [next = 0](int& block) mutable {
    if (next == 5) throw Error(ErrorKind::bad_file, "scan.h5: chunk 5 ends early");
    block = next++;
    return true;
  });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*feed.next(), i);
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(testing::error_of(ErrorKind::bad_file, [&] { (void)feed.next(); }), "error: scan.h5: chunk 5 ends early");
}

TEST(Feed, FailureOfTheUserStopsTheReader) {
  std::atomic<int> filled = 0;
  EXPECT_THROW(
      {
        Numbers feed(std::vector<int>(2), [&](int&) {
          ++filled;
          return true;  // would go on for ever
        });
        const auto block = feed.next();
        throw std::runtime_error("the user fails");
      },
      std::runtime_error);
  EXPECT_LE(filled.load(), 3);  // two buffers, and at most one more after the lease went back
}

TEST(Feed, CanBeDestroyedBeforeAnythingIsUsed) { const Numbers feed(std::vector<int>(2), counting_to(1 << 30)); }

TEST(Feed, TakesBlocksThatOnlyMove) {
  Feed<std::unique_ptr<int>> feed(std::vector<std::unique_ptr<int>>(2),
                                  [next = 0](std::unique_ptr<int>& block) mutable {
                                    block = std::make_unique<int>(next++);
                                    return next <= 3;
                                  });
  EXPECT_EQ(**feed.next(), 0);
  EXPECT_EQ(**feed.next(), 1);
}

}  // namespace
}  // namespace sonde
