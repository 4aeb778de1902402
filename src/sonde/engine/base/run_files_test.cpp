// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "sonde/engine/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

/// A scan, and other names for it.
class RunFilesTest : public ::testing::Test {
 protected:
  RunFilesTest() {
    testing::write_bytes(scan_, {1, 2, 3});
    fs::create_symlink("scan.h5", folder_.file("soft.h5"));
    fs::create_hard_link(scan_, folder_.file("hard.h5"));
    testing::write_bytes(folder_.file("other.h5"), {4});
  }

  TemporaryFolder folder_;
  const std::string scan_ = folder_.file("scan.h5");
  RunFiles files_;
};

TEST_F(RunFilesTest, AnInputIsNoOutputUnderAnyName) {
  files_.add_input(scan_);
  for (const char* name : {"scan.h5", "soft.h5", "hard.h5"}) {
    SCOPED_TRACE(name);
    const std::string text =
        testing::error_of(ErrorKind::bad_input, [&] { files_.declare_output(folder_.file(name), "the report"); });
    EXPECT_THAT(text,
                AllOf(HasSubstr(folder_.file(name) + ": the report would replace "),
                      HasSubstr("an output never replaces an input"), HasSubstr("hint: give the report another name")));
  }
  EXPECT_NO_THROW(files_.declare_output(folder_.file("other.h5"), "the report"));
  EXPECT_NO_THROW(files_.declare_output(folder_.file("new.json"), "the log"));
}

TEST_F(RunFilesTest, BothNamesAreInTheText) {
  files_.add_input(scan_);
  EXPECT_THAT(
      testing::error_of(ErrorKind::bad_input, [&] { files_.declare_output(folder_.file("soft.h5"), "the log"); }),
      HasSubstr(folder_.file("soft.h5") + ": the log would replace " + scan_ + ", which this run reads"));
}

TEST_F(RunFilesTest, ADeclaredOutputIsNoInputLater) {
  files_.declare_output(folder_.file("hard.h5"), "the output");
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { files_.add_input(scan_); }),
              HasSubstr(folder_.file("hard.h5") + ": the output would replace " + scan_));
}

TEST_F(RunFilesTest, WhatTheRunHasMadeMayBeReadAndReplaced) {
  files_.add_made(*file_identity(scan_));
  files_.add_input(scan_);
  EXPECT_NO_THROW(files_.declare_output(scan_, "the output"));
}

TEST_F(RunFilesTest, AContinuedFileIsReplacedByWhatContinuesItAlone) {
  files_.add_continued(scan_);
  files_.add_input(scan_);
  EXPECT_NO_THROW(files_.declare_output(scan_, "the checkpoint", true));
  RunFiles other;
  other.add_continued(scan_);
  EXPECT_THROW(other.declare_output(scan_, "the report"), Error);
}

TEST_F(RunFilesTest, TwoOutputsNeedTwoNames) {
  files_.declare_output(folder_.file("new.json"), "the record of the image");
  EXPECT_NO_THROW(files_.declare_output(folder_.file("new.json"), "the record of the image"));
  EXPECT_THAT(
      testing::error_of(ErrorKind::bad_input,
                        [&] { files_.declare_output((folder_.path() / "." / "new.json").string(), "the report"); }),
      HasSubstr("is the record of the image and the report of one run"));
}

TEST_F(RunFilesTest, ThreadsOfTheRunInheritIt) {
  const auto run = std::make_shared<RunFiles>();
  const InRun joined(run.get());
  std::thread(in_this_run([&] { note_input(scan_); })).join();
  EXPECT_THROW(run->declare_output(scan_, "the output"), Error);
}

TEST_F(RunFilesTest, OtherThreadsAreOfNoRun) {
  const auto run = std::make_shared<RunFiles>();
  const InRun joined(run.get());
  std::thread([&] { note_input(scan_); }).join();
  EXPECT_NO_THROW(run->declare_output(scan_, "the output"));
}

TEST_F(RunFilesTest, ALaterRunKeepsTheInputsOfTheEarlier) {
  files_.add_input(scan_);
  files_.declare_output(folder_.file("other.h5"), "the output");
  RunFiles later(files_);
  EXPECT_THROW(later.declare_output(scan_, "the output"), Error);
  EXPECT_NO_THROW(later.declare_output(folder_.file("other.h5"), "the record"));
}

}  // namespace
}  // namespace sonde
