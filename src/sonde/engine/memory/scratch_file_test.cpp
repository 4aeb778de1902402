// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/scratch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <filesystem>

#include "tests/support/child.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(ScratchFile, GivesBackWhatWasWrittenAndHasNoName) {
  const testing::TemporaryFolder folder;
  const ScratchFile file(folder.path().string(), 10000);
  const std::array<int, 4> values{1, 2, 3, 4};
  file.write_at(5000, values.data(), sizeof values);
  std::array<int, 4> back{};
  file.read_at(5000, back.data(), sizeof back);
  EXPECT_EQ(back, values);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ScratchFile, AKilledProcessLeavesNothing) {
  const testing::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const ScratchFile file(folder.path().string(), 4096);
    file.write_at(0, "abc", 3);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ScratchFile, ReadingBeyondTheEndIsAnError) {
  const testing::TemporaryFolder folder;
  const ScratchFile file(folder.path().string(), 100);
  std::array<char, 64> bytes{};
  EXPECT_THAT(testing::error_of(ErrorKind::io, [&] { file.read_at(50, bytes.data(), bytes.size()); }),
              HasSubstr("reading a temporary file failed"));
}

TEST(ScratchFile, NoRoomIsAnErrorBeforeTheWork) {
  const testing::TemporaryFolder folder;
  const std::string text = testing::text_from_child([&]() -> std::string {
    testing::limit_file_size(4096);
    const ScratchFile file(folder.path().string(), 1 << 20);
    return "made";
  });
  EXPECT_THAT(text, HasSubstr("setting aside 1.00 MiB for a temporary file failed: File too large"));
  EXPECT_THAT(text, HasSubstr("hint: choose another folder for temporary files"));
}

TEST(ScratchFile, AMissingFolderIsAnError) {
  EXPECT_THAT(testing::error_of(ErrorKind::io, [] { (void)ScratchFile("/not/there"); }),
              HasSubstr("/not/there: making a temporary file failed: No such file or directory"));
}

}  // namespace
}  // namespace sonde
