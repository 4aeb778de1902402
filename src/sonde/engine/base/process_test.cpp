// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "sonde/engine/base/thread_clock.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

TEST(Process, OutputIsReturned) { EXPECT_EQ(program_output({"echo", "one two"}), "one two\n"); }

TEST(Process, LongOutputIsWhole) {
  EXPECT_EQ(program_output({"sh", "-c", "head -c 300000 /dev/zero"})->size(), 300000u);
}

TEST(Process, AnAbsentProgramGivesNothing) { EXPECT_EQ(program_output({"sonde-no-such-program"}), std::nullopt); }

TEST(Process, AFailureGivesNothing) {
  EXPECT_EQ(program_output({"sh", "-c", "echo partly; exit 1"}), std::nullopt);
  EXPECT_EQ(program_output({"sh", "-c", "kill -9 $$"}), std::nullopt);
  EXPECT_EQ(program_output({}), std::nullopt);
}

TEST(Process, BothOutputsAndTheEndAreToldWhereWanted) {
  const std::optional<ProgramEnd> end = program_end({"sh", "-c", "echo one; echo two >&2; exit 1"});
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->well);
  EXPECT_EQ(end->text, "one\ntwo\n");
  EXPECT_TRUE(program_end({"true"})->well);
  EXPECT_FALSE(program_end({"sonde-no-such-program"}));
}

TEST(Process, RunsInTheFolder) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(program_output({"pwd", "-P"}, folder.path().string()),
            std::filesystem::canonical(folder.path()).string() + "\n");
}

TEST(ThreadClock, CountsWorkAndNotWaiting) {
  const ThreadClock waiting;
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  EXPECT_LT(waiting.seconds(), 0.02);
  const ThreadClock working;
  volatile double sum = 0;
  for (int i = 0; i < 10'000'000; ++i) sum = sum + 1;  // a store and a load each
  EXPECT_GT(working.seconds(), 1e-3);
}

}  // namespace
}  // namespace sonde
