// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/batch/smoke_solve.h"

#include <gtest/gtest.h>

#include "tests/support/devices.h"

namespace sonde::neoclassical {
namespace {

class SmokeSolveOnEachDevice : public sonde::testing::EachDevice {};

TEST_P(SmokeSolveOnEachDevice, PassesWhereTheDeviceIsSound) {
  const SmokeSolve made = smoke_solve(device());
  EXPECT_EQ(made.failure, "");
  EXPECT_LT(made.difference, 1e-3 * SmokeSolve::tolerance);  // the tolerance is wide enough
  EXPECT_GT(made.difference, 0);                             // another way of solving
}

INSTANTIATE_EACH_DEVICE(SmokeSolveOnEachDevice);

TEST(SmokeSolve, DevicesThatFailAreSkippedAndTold) {
  const std::vector<Device> three(3);
  int asked = 0;
  const auto second_is_sound = [&](Device) { return SmokeSolve{1e-13, asked++ == 1 ? "" : "wrong"}; };
  const SoundDevice found = first_sound(three, second_is_sound);
  EXPECT_TRUE(found.device.has_value());
  ASSERT_EQ(found.checks.size(), 2U);  // the third is not asked
  EXPECT_EQ(found.checks[0].second.failure, "wrong");
  EXPECT_EQ(found.checks[1].second.failure, "");
  const SoundDevice none = first_sound(three, [](Device) { return SmokeSolve{1, "wrong"}; });
  EXPECT_FALSE(none.device.has_value());
  EXPECT_EQ(none.checks.size(), 3U);
}

}  // namespace
}  // namespace sonde::neoclassical
