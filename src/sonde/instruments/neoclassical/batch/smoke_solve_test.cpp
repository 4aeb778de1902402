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

}  // namespace
}  // namespace sonde::neoclassical
