// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/frame_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::plenty;
using stem::testing::MemorySource;
using ::testing::Each;

constexpr Index queue_lines = 19, queue_steps = 23, queue_pixels = 6 * 7;

std::vector<std::uint16_t> queue_counts() {
  std::mt19937_64 random(6);
  std::vector<std::uint16_t> values(static_cast<std::size_t>(queue_lines * queue_steps * queue_pixels));
  for (auto& value : values) value = static_cast<std::uint16_t>(random() % 300);
  return values;
}

Dataset queue_scan(std::vector<Index> broken = {}) {
  auto source = std::make_unique<MemorySource<std::uint16_t>>(queue_lines, queue_steps, 6, 7, queue_counts());
  LoadOptions options;
  options.hot_pixels = BadPixelAction::none;
  options.layout = LayoutChoice::file;
  MemorySource<std::uint16_t>* const opened = source.get();
  Dataset dataset = load(std::move(source), options, plenty());
  opened->broken = std::move(broken);
  return dataset;
}

TEST(FrameQueue, EveryPositionComesOnceWithItsFrame) {
  const std::vector<std::uint16_t> stored = queue_counts();
  const Dataset dataset = queue_scan();
  for (const int threads : {1, 2, 7})
    for (const Index frames : {Index{16}, Index{50}, Index{1000}}) {
      SCOPED_TRACE(::testing::Message() << threads << " threads, " << frames << " frames");
      set_thread_count(threads);
      std::vector<int> seen(static_cast<std::size_t>(queue_lines * queue_steps));
      {
        FrameQueue queue(dataset, frames, 2);
        while (auto block = queue.next()) {
          ASSERT_EQ(block->frames.shape(), (Shape{std::ssize(block->positions), 6, 7}));
          ASSERT_LE(std::ssize(block->positions), frames);
          const auto* elements = static_cast<const std::uint16_t*>(block->frames.data());
          for (const Index position : block->positions) {
            ++seen[static_cast<std::size_t>(position)];
            ASSERT_EQ(std::memcmp(elements, stored.data() + position * queue_pixels, queue_pixels * 2), 0);
            elements += queue_pixels;
          }
          // The user's own parallel loops find workers.
          std::atomic<Index> sum{0};
          parallel_for(100, 1, [&](Index first, Index last, Worker&) { sum += last - first; });
          ASSERT_EQ(sum, 100);
        }
      }
      set_thread_count(0);
      EXPECT_THAT(seen, Each(1));
    }
}

TEST(FrameQueue, MayEndInTheMiddle) {
  const Dataset dataset = queue_scan();
  {
    FrameQueue queue(dataset, 16, 1);
    ASSERT_TRUE(queue.next().has_value());
  }
  FrameQueue again(dataset, 16);  // nothing was left locked
  EXPECT_TRUE(again.next().has_value());
}

TEST(FrameQueue, ThrowsWhatThePassThrows) {
  const Dataset dataset = queue_scan({200});
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file,
                                       [&] {
                                         FrameQueue queue(dataset, 16);
                                         while (queue.next().has_value()) continue;
                                       }),
              ::testing::HasSubstr("memory: frame 200 is broken"));
}

TEST(FrameQueue, AnInterruptReachesWhoWaits) {
  const Dataset dataset = queue_scan();
  Cancel cancel;
  const CancelScope scope(&cancel);
  FrameQueue queue(dataset, 16);
  cancel.request();
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::interrupted, [&] { (void)queue.next(); }),
              ::testing::HasSubstr("cancelled"));
}

TEST(FrameQueue, RefusesBlocksThatAreTooSmall) {
  const Dataset dataset = queue_scan();
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { FrameQueue(dataset, 15); }),
              ::testing::HasSubstr("blocks of 15 frames; expected 16 or more"));
}

}  // namespace
}  // namespace sonde::stem
