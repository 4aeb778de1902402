// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/device_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

RunSizes sizes() {
  RunSizes s;
  s.frames = 4000;
  s.rows = 64;
  s.cols = 32;
  s.modes = 2;
  s.object_rows = 200;
  s.object_cols = 100;
  s.storage = AmplitudeStorage::f16;
  s.engines = {{"gd", 100}};
  return s;
}

std::size_t bytes_of(const MemoryPlan& plan, const std::string& what) {
  for (const MemoryPlan::Line& line : plan.lines)
    if (line.what == what) return line.bytes;
  ADD_FAILURE() << "no line " << what << " in\n" << plan.text();
  return 0;
}

// Every product by hand, so that a changed formula is seen.
TEST(DevicePlan, CountsWhatTheDeviceHolds) {
  const MemoryPlan plan = plan_device_memory(sizes(), PatternTier::device);
  EXPECT_EQ(bytes_of(plan, "patterns"), 4000u * 64 * 32 * 2);
  EXPECT_EQ(bytes_of(plan, "estimate"), 200u * 100 * 8 + 2 * 64 * 32 * 8);
  EXPECT_EQ(bytes_of(plan, "sums"), 200u * 100 * 12 + 2 * 64 * 32 * 8 + 64 * 32 * 4);
  EXPECT_EQ(bytes_of(plan, "waves"), 100u * 2 * 64 * 32 * 8);
  EXPECT_EQ(bytes_of(plan_device_memory(sizes(), PatternTier::host), "patterns"), 2u * 100 * 64 * 32 * 2);
}

TEST(DevicePlan, ShiftedProbesAndSlicesAddWaves) {
  RunSizes s = sizes();
  s.fractional = true;
  s.slices = 3;
  EXPECT_EQ(bytes_of(plan_device_memory(s, PatternTier::device), "waves"), 100u * 2 * 4 * 64 * 32 * 8);
}

TEST(DevicePlan, TryingStartsHoldsTwoReconstructions) {
  RunSizes s = sizes();
  s.starts = 5;
  EXPECT_EQ(plan_device_memory(s, PatternTier::device).peak_bytes,
            2 * plan_device_memory(sizes(), PatternTier::device).peak_bytes);
}

TEST(DevicePlan, PatternsWaitOnTheHostWhenTheDeviceIsTooSmall) {
  const MemoryPlan all = plan_device_memory(sizes(), PatternTier::device);
  const MemoryPlan some = plan_device_memory(sizes(), PatternTier::host);
  EXPECT_EQ(choose_pattern_tier(sizes(), Budget(all.needed_bytes(), "the test says so")).value, PatternTier::device);
  const Choice<PatternTier> host = choose_pattern_tier(sizes(), Budget(all.needed_bytes() - 1, "the test says so"));
  EXPECT_EQ(host.value, PatternTier::host);
  EXPECT_THAT(host.because, ::testing::HasSubstr("may be used"));
  EXPECT_EQ(choose_pattern_tier(sizes(), Budget(some.needed_bytes(), "the test says so")).value, PatternTier::host);
  EXPECT_THAT(testing::error_of(
                  ErrorKind::budget,
                  [&] { (void)choose_pattern_tier(sizes(), Budget(some.needed_bytes() - 1, "the test says so")); }),
              ::testing::HasSubstr("may be used"));
}

}  // namespace
}  // namespace sonde::ptycho
