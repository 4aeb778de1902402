// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/pause.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

TEST(Pause, WorkWaitsUntilItsEnd) {
  Pause pause;
  pause.wait();
  pause.begin();
  EXPECT_TRUE(pause.wanted());
  std::atomic<bool> passed = false;
  std::jthread working([&] {
    pause.wait();
    passed = true;
  });
  EXPECT_FALSE(pause.wait_for(std::chrono::milliseconds(1)));
  EXPECT_FALSE(passed);
  pause.end();
  working.join();
  EXPECT_TRUE(passed);
}

TEST(Pause, WorkThatIsAskedToStopDoesNotWait) {
  Pause pause;
  pause.begin();
  Cancel cancel("not wanted");
  const CancelScope scope(&cancel);
  cancel.request();
  EXPECT_EQ(testing::error_of(ErrorKind::interrupted, [&] { pause.wait(); }), "error: not wanted");
}

TEST(Pause, ItsTimeIsCountedUntilItEnds) {
  Pause pause;
  EXPECT_EQ(pause.seconds(), 0);
  pause.begin();
  (void)pause.wait_for(std::chrono::milliseconds(2));
  EXPECT_GE(pause.seconds(), 0.002);
  pause.end();
  const double seconds = pause.seconds();
  pause.end();
  EXPECT_EQ(pause.seconds(), seconds);
}

}  // namespace
}  // namespace sonde
