// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/look_ahead.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace sonde::ptycho {
namespace {

/// Frames of a batch of `next` that are asked for over all places of one of `count`, in order.
std::vector<Index> announced(Index next, Index count) {
  std::vector<Index> batch(static_cast<std::size_t>(next)), asked;
  std::iota(batch.begin(), batch.end(), Index{100});
  for (Index at = 0; at < count; ++at)
    announce_next(batch, at, count,
                  [&](std::span<const Index> frames) { asked.insert(asked.end(), frames.begin(), frames.end()); });
  return asked;
}

TEST(AnnounceNext, AsksForEveryFrameOnceWhateverTheSizes) {
  for (const Index next : {0, 1, 7, 63, 64})
    for (const Index count : {1, 2, 7, 64, 100}) {
      SCOPED_TRACE(::testing::Message() << next << " after " << count);
      std::vector<Index> all(static_cast<std::size_t>(next));
      std::iota(all.begin(), all.end(), Index{100});
      EXPECT_EQ(announced(next, count), all);
    }
}

TEST(AnnounceNext, AsksForTheBeginningOfALongBatch) {
  const std::vector<Index> asked = announced(1000, 32);
  EXPECT_EQ(static_cast<Index>(asked.size()), most_announced);
  EXPECT_EQ(asked.front(), 100);
  EXPECT_EQ(asked.back(), 100 + most_announced - 1);
}

}  // namespace
}  // namespace sonde::ptycho
