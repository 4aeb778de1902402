// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <utility>

#include "sonde/engine/base/run_files.h"
#include "sonde/engine/io/file.h"
#include "tests/support/child.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::string text_of(const std::string& path) {
  const auto bytes = testing::read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

std::ptrdiff_t entries(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  AtomicFile file(folder.file("image.npy"));
  file.write("first ");
  file.write("second");
  EXPECT_EQ(file.written_bytes(), 12u);
  EXPECT_FALSE(std::filesystem::exists(folder.file("image.npy")));
  file.commit();
  EXPECT_EQ(text_of(folder.file("image.npy")), "first second");
  EXPECT_EQ(entries(folder), 1);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder.file("image.npy"));
    file.write("half");
    const AtomicFile moved = std::move(file);
    EXPECT_EQ(entries(folder), 1);
  }
  EXPECT_EQ(entries(folder), 0);
}

TEST(AtomicFile, KeepsTheOlderFileUntilCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("image.npy");
  testing::write_bytes(path, {'o', 'l', 'd'});
  AtomicFile file(path);
  file.write("new");
  EXPECT_EQ(text_of(path), "old");
  file.commit();
  EXPECT_EQ(text_of(path), "new");
}

TEST(AtomicFile, ServesLibrariesThatOpenByName) {
  const TemporaryFolder folder;
  AtomicFile file(folder.file("scan.h5"));
  EXPECT_THAT(file.partial_path(), HasSubstr("scan.h5.partial-"));
  testing::write_bytes(file.partial_path(), {'h', '5'});
  file.commit();
  EXPECT_EQ(text_of(folder.file("scan.h5")), "h5");
}

TEST(AtomicFile, WritesThroughLinks) {
  const TemporaryFolder folder;
  testing::write_bytes(folder.file("target"), {'o'});
  std::filesystem::create_symlink("target", folder.file("link"));
  AtomicFile file(folder.file("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(text_of(folder.file("target")), "new");
}

TEST(AtomicFile, HasOrdinaryPermissions) {
  const TemporaryFolder folder;
  const std::string mode = testing::text_from_child([&] {
    umask(022);
    AtomicFile file(folder.file("image.npy"));
    file.commit();
    struct stat status {};
    stat(folder.file("image.npy").c_str(), &status);
    return std::to_string(status.st_mode & 0777u);
  });
  EXPECT_EQ(mode, std::to_string(0644));
}

TEST(AtomicFile, FullDiskNamesFileBytesAndReason) {
  const TemporaryFolder folder;
  const std::string path = folder.file("image.npy");
  const std::string text = testing::text_from_child([&] {
    testing::limit_file_size(1000);
    AtomicFile file(path);
    file.write(std::string(600, 'x'));
    file.write(std::string(700, 'y'));
    return std::string("written");
  });
  EXPECT_THAT(text, AllOf(HasSubstr(path + ": writing 700 bytes at offset 1000 failed"), HasSubstr("hint: ")));
  EXPECT_EQ(entries(folder), 0);
}

TEST(AtomicFile, AClosedFileStillWaitsForItsName) {
  const TemporaryFolder folder;
  AtomicFile file(folder.file("a.txt"));
  file.write("words");
  file.close();
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.txt")));
  file.commit();
  EXPECT_TRUE(std::filesystem::exists(folder.file("a.txt")));
}

TEST(AtomicFile, MissingFolderIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.file("nowhere/image.npy");
  const std::string text = testing::error_of(ErrorKind::io, [&] { const AtomicFile file(path); });
  EXPECT_THAT(text, AllOf(HasSubstr("there is no folder " + folder.file("nowhere")), HasSubstr("mkdir -p")));
}

TEST(AtomicFile, FolderInPlaceOfTheFileIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THAT(testing::error_of(ErrorKind::io, [&] { const AtomicFile file(folder.path().string()); }),
              HasSubstr("is a folder"));
}

TEST(AtomicFile, DevicesAreNotReplaced) {
  EXPECT_THAT(testing::error_of(ErrorKind::io, [] { const AtomicFile file("/dev/null"); }),
              HasSubstr("not a regular file"));
}

TEST(AtomicFile, FolderWithoutPermissionIsAnError) {
  const TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  const std::string text = testing::text_from_child([&] {
    testing::become_nobody();
    const AtomicFile file(folder.file("image.npy"));
    return std::string("opened");
  });
  EXPECT_THAT(text, AllOf(HasSubstr("creating it failed: Permission denied"), HasSubstr("choose a folder")));
}

TEST(AtomicFile, RenameThatFailsRemovesThePartialFile) {
  const TemporaryFolder folder;
  AtomicFile file(folder.file("image.npy"));
  std::filesystem::create_directory(folder.file("image.npy"));
  EXPECT_THAT(testing::error_of(ErrorKind::io, [&] { file.commit(); }), HasSubstr("renaming "));
  EXPECT_EQ(entries(folder), 1);
}

TEST(AtomicFile, NeverTakesThePlaceOfAnInput) {
  const TemporaryFolder folder;
  testing::write_bytes(folder.file("scan.npy"), {1, 2, 3});
  std::filesystem::create_hard_link(folder.file("scan.npy"), folder.file("hard.npy"));
  const auto run = std::make_shared<RunFiles>();
  const InRun joined(run.get());
  const File read(folder.file("scan.npy"));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { const AtomicFile file(folder.file("hard.npy")); }),
              HasSubstr("hard.npy: the output would replace " + folder.file("scan.npy")));
  EXPECT_EQ(entries(folder), 2);
}

TEST(AtomicFile, WhatItMadeMayBeReadAndMadeAgain) {
  const TemporaryFolder folder;
  const auto run = std::make_shared<RunFiles>();
  const InRun joined(run.get());
  for (const char* text : {"first", "second"}) {
    AtomicFile file(folder.file("a"));
    file.write(text);
    file.commit();
    EXPECT_EQ(read_text(folder.file("a")), text);
  }
}

TEST(AtomicFile, ASideOutputReplacesItsOwnKindOnly) {
  const TemporaryFolder folder;
  const OutputRole report = side_output("the report", FileMark::json);
  const std::string path = folder.file("a.json");
  testing::write_bytes(path, {'n', 'o', 't', 'e', 's'});
  const std::string text = testing::error_of(ErrorKind::bad_input, [&] { const AtomicFile file(path, report); });
  EXPECT_THAT(text, AllOf(HasSubstr(path + ": a file that sonde did not write as the report is here"),
                          HasSubstr("hint: move it away, or give the report another name")));
  EXPECT_EQ(text_of(path), "notes");
  std::filesystem::remove(path);
  for (int i = 0; i < 2; ++i) {
    AtomicFile file(path, report);
    file.write("{\"schema\": \"sonde.report/1\"}");
    file.commit();
  }
}

/// What a process that is killed in the middle of writing leaves behind.
void die_writing(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write("half");
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(AtomicFile, RemovesWhatAKilledWriterHasLeft) {
  const TemporaryFolder folder;
  die_writing(folder.file("image.npy"));
  ASSERT_EQ(entries(folder), 1);
  AtomicFile file(folder.file("image.npy"));
  file.write("whole");
  file.commit();
  EXPECT_EQ(entries(folder), 1);
  EXPECT_EQ(text_of(folder.file("image.npy")), "whole");
}

TEST(AtomicFile, LeavesTheFilesOfWritersThatLive) {
  const TemporaryFolder folder;
  AtomicFile first(folder.file("image.npy"));
  first.write("first");
  AtomicFile second(folder.file("image.npy"));
  second.write("second");
  die_writing(folder.file("image.npy"));
  EXPECT_EQ(entries(folder), 3);
  const AtomicFile other(folder.file("image.npy"));  // in the place of the one that was left
  EXPECT_EQ(entries(folder), 3);
  first.commit();
  second.commit();
  EXPECT_EQ(text_of(folder.file("image.npy")), "second");
}

TEST(AtomicFile, AClosedFileThatAnotherWriterRemovedFailsInCommit) {
  const TemporaryFolder folder;
  AtomicFile closed(folder.file("image.npy"));
  closed.write("closed");
  closed.close();  // its lock is given back: it looks like one that was left
  AtomicFile other(folder.file("image.npy"));
  other.write("other");
  other.commit();
  EXPECT_THAT(testing::error_of(ErrorKind::io, [&] { closed.commit(); }), HasSubstr("image.npy"));
  EXPECT_EQ(text_of(folder.file("image.npy")), "other");
}

TEST(AtomicFile, LongNamesHavePartialNamesToo) {
  const TemporaryFolder folder;
  const std::string name(251, 'n');
  AtomicFile file(folder.file(name + ".npy"));
  file.commit();
  EXPECT_TRUE(std::filesystem::exists(folder.file(name + ".npy")));
}

TEST(AtomicFile, NamesThatAreTooLongAreAnErrorBeforeTheWork) {
  const TemporaryFolder folder;
  const std::string path = folder.file(std::string(300, 'n'));
  EXPECT_THAT(testing::error_of(ErrorKind::io, [&] { require_place(path); }),
              HasSubstr(path + ": looking for it failed: File name too long"));
}

}  // namespace
}  // namespace sonde
