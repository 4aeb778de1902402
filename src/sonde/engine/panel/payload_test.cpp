// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/payload.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "sonde/engine/memory/host_memory.h"

namespace sonde::panel {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

TEST(Payload, IsCountedWhileAFrameLives) {
  const std::size_t before = payload_memory().in_use;
  {
    const auto one = new_payload(64 * kib), other = one;
    EXPECT_EQ(payload_memory().in_use, before + 64 * kib);
  }
  EXPECT_EQ(payload_memory().in_use, before);
}

TEST(Payload, OfASmallFrameIsNotMapped) {
  const std::size_t before = payload_memory().in_use;
  const auto small = new_payload(100);
  std::memset(small.get(), 1, 100);
  EXPECT_EQ(payload_memory().in_use, before);
}

TEST(Payload, IsUsedAgainByAFrameOfItsSize) {
  void* first = nullptr;
  {
    const auto one = new_payload(300 * kib);
    first = one.get();
  }
  EXPECT_EQ(new_payload(299 * kib).get(), first) << "of a size that is rounded to the same block";
}

TEST(Payload, LittleIsKeptOfMany) {
  {
    std::vector<std::shared_ptr<void>> frames;
    for (int i = 0; i < 2000; ++i) frames.push_back(new_payload(64 * kib));
    EXPECT_GE(payload_memory().in_use, 2000 * 64 * kib);
  }
  EXPECT_LE(payload_memory().kept, 16 * mib);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose shadows of these pages stay
// The heap keeps such space: small blocks that stay between frames that go pin it, in the arena of every thread.
TEST(Payload, GoesBackToTheSystemAlsoFromBetweenSmallThingsThatStay) {
  const std::size_t before = resident_memory().anonymous;
  std::vector<std::vector<std::unique_ptr<char[]>>> small(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < small.size(); ++t)
      threads.emplace_back([&, t] {
        std::vector<std::shared_ptr<void>> frames;
        for (int i = 0; i < 1000; ++i) {
          frames.push_back(new_payload(64 * kib));
          std::memset(frames.back().get(), 1, 64 * kib);
          small[t].push_back(std::make_unique<char[]>(100));
        }
      });
  }
  // 250 MiB were touched. What stays: 16 MiB for the next frames, and the small things with the arenas of their
  // threads.
  EXPECT_LT(resident_memory().anonymous, before + 40 * mib);
}
#endif

}  // namespace
}  // namespace sonde::panel
