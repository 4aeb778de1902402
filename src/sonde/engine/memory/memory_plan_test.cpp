// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/memory_plan.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(MemoryPlan, IsATableThatEndsInItsPeak) {
  MemoryPlan plan;
  EXPECT_EQ(plan.add("input", 4096, "2 x 2048 B"), 4096u);
  plan.add("work", 1024, "");
  plan.peak_bytes = 5120;
  EXPECT_EQ(plan.text(),
            "  input                  4.00 KiB  2 x 2048 B\n"
            "  work                   1.00 KiB\n"
            "  peak                   5.00 KiB");
  plan.disk_bytes = 10240;
  plan.head_room_percent = 25;
  EXPECT_EQ(plan.text(),
            "  input                  4.00 KiB  2 x 2048 B\n"
            "  work                   1.00 KiB\n"
            "  on the disk            10.0 KiB  beside the memory\n"
            "  peak                   5.00 KiB  6.25 KiB with 25 % of head-room");
}

TEST(MemoryPlan, HeadRoomIsAskedForBesideThePeak) {
  EXPECT_EQ((MemoryPlan{.peak_bytes = 1000}.needed_bytes()), 1000u);
  EXPECT_EQ((MemoryPlan{.peak_bytes = 1000, .head_room_percent = 25}.needed_bytes()), 1250u);
}

TEST(MemoryPlan, SeveralWorksShareTheirInput) {
  const MemoryPlan plan{.peak_bytes = 1000, .shared_bytes = 400};
  EXPECT_EQ(plan.peak_bytes_of(1), 1000u);
  EXPECT_EQ(plan.peak_bytes_of(3), 2200u);
}

}  // namespace
}  // namespace sonde
