// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

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

}  // namespace
}  // namespace sonde
