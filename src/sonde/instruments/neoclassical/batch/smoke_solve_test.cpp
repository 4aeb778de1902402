// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/batch/smoke_solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/error.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

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
  const BatchDeviceChoice found = choose_sound_device(three, false, second_is_sound);
  ASSERT_EQ(found.checks.size(), 2U);  // the third is not asked
  EXPECT_EQ(found.checks[0].second.failure, "wrong");
  EXPECT_EQ(found.checks[1].second.failure, "");
  EXPECT_THAT(found.chosen.because, HasSubstr("as the CPU does"));
}

TEST(SmokeSolve, WithoutASoundDeviceTheCpuIsTakenOnlyWhereItMayBe) {
  const std::vector<Device> two(2);
  const auto none_is_sound = [](Device) { return SmokeSolve{1, "wrong"}; };
  const BatchDeviceChoice cpu = choose_sound_device(two, true, none_is_sound);
  EXPECT_EQ(cpu.chosen.because, "wrong; wrong");
  EXPECT_EQ(cpu.checks.size(), 2U);
  EXPECT_THAT(error_of(ErrorKind::device, [&] { (void)choose_sound_device(two, false, none_is_sound); }),
              HasSubstr("wrong; wrong"));
}

TEST(SmokeSolve, WithoutAGpuTheChoiceIsThatOfDevices) {
  EXPECT_TRUE(choose_batch_device("cpu", "").chosen.value.is_cpu());
  EXPECT_TRUE(choose_batch_device("cpu", "a reason").chosen.value.is_cpu());
  error_of(ErrorKind::device, [] { (void)choose_batch_device("cuda:99", ""); });
  error_of(ErrorKind::usage, [] { (void)choose_batch_device("tpu", ""); });
}

}  // namespace
}  // namespace sonde::neoclassical
