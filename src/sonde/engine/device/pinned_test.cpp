// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/pinned.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "sonde/engine/device/stream.h"
#include "tests/support/devices.h"

namespace sonde {
namespace {

class PinnedOnEachDevice : public testing::EachDevice {};

TEST_P(PinnedOnEachDevice, HoldsWhatIsWritten) {
  PinnedBlock block(device(), 1000);
  std::memset(block.data(), 7, block.size());
  Stream stream(device());
  PinnedBlock other(device(), 1000);
  stream.copy(other.data(), block.data(), 1000);
  stream.synchronise();
  EXPECT_EQ(other.data()[999], std::byte{7});
}

TEST_P(PinnedOnEachDevice, MovesItsMemory) {
  PinnedBlock block(device(), 10);
  const std::byte* const memory = block.data();
  const PinnedBlock moved = std::move(block);
  EXPECT_EQ(moved.data(), memory);
  EXPECT_EQ(moved.size(), 10u);
}

TEST_P(PinnedOnEachDevice, OfNoBytesIsEmpty) { EXPECT_EQ(PinnedBlock(device(), 0).data(), nullptr); }

INSTANTIATE_EACH_DEVICE(PinnedOnEachDevice);

}  // namespace
}  // namespace sonde
