// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <limits>
#include <utility>

#include "tests/support/child.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

/// Bytes 0, 1, 2, ... in a file of its own folder.
class SmallFile : public ::testing::Test {
 protected:
  SmallFile() {
    std::vector<std::uint8_t> bytes(100);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
    testing::write_bytes(path_, bytes);
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.file("small.bin");
};

TEST_F(SmallFile, ReadsWhatWasAskedFor) {
  const File file(path_);
  EXPECT_EQ(file.size(), 100u);
  std::array<std::byte, 3> bytes{};
  file.read_at(41, bytes);
  EXPECT_EQ(bytes[0], std::byte{41});
  EXPECT_EQ(bytes[2], std::byte{43});
}

TEST_F(SmallFile, IsReadToItsLastByte) {
  const File file(path_);
  std::array<std::byte, 1> byte{};
  file.read_at(99, byte);
  EXPECT_EQ(byte[0], std::byte{99});
  file.read_at(100, {});
}

TEST_F(SmallFile, ReadingBeyondTheEndNamesOffsetAndLength) {
  const File file(path_);
  std::array<std::byte, 10> bytes{};
  const std::string text = testing::error_of(ErrorKind::bad_file, [&] { file.read_at(95, bytes); });
  EXPECT_EQ(text, "error: " + path_ +
                      ": ends after 100 bytes, 10 bytes were expected at offset 95\nhint: the copy may be incomplete");
}

TEST_F(SmallFile, HostileOffsetsAreErrors) {
  const File file(path_);
  std::array<std::byte, 10> bytes{};
  (void)testing::error_of(ErrorKind::bad_file,
                          [&] { file.read_at(std::numeric_limits<std::uint64_t>::max() - 3, bytes); });
}

TEST_F(SmallFile, TruncationAfterOpeningIsFound) {
  const File file(path_);
  ASSERT_EQ(truncate(path_.c_str(), 50), 0);
  std::array<std::byte, 20> bytes{};
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { file.read_at(40, bytes); }),
              HasSubstr("ends after 50 bytes"));
}

TEST_F(SmallFile, WithoutPermissionIsAnError) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0), 0);
  const std::string text = testing::text_from_child([&] {
    testing::become_nobody();
    const File file(path_);
    return std::string("opened");
  });
  EXPECT_THAT(text, HasSubstr(path_ + ": no permission to read it"));
}

TEST_F(SmallFile, MapsToItsBytes) {
  MappedFile mapped(path_);
  mapped.release_pages();
  const MappedFile moved = std::move(mapped);
  ASSERT_EQ(moved.bytes().size(), 100u);
  EXPECT_EQ(moved.bytes()[77], std::byte{77});
}

TEST_F(SmallFile, MovesWithoutClosing) {
  File first(path_);
  File second = std::move(first);
  first = std::move(second);
  std::array<std::byte, 1> byte{};
  first.read_at(5, byte);
  EXPECT_EQ(byte[0], std::byte{5});
}

TEST(File, MissingIsAnError) {
  EXPECT_EQ(testing::error_of(ErrorKind::bad_file, [] { const File file("/nowhere/scan.h5"); }),
            "error: /nowhere/scan.h5: no such file");
}

TEST(File, FolderIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { const File file(folder.path().string()); }),
              HasSubstr("is a folder, expected a file"));
}

TEST(File, NamedPipeIsAnErrorAndDoesNotWait) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { const File file(folder.file("pipe")); }),
              HasSubstr("is not a regular file"));
}

TEST(File, EmptyMapsToNothing) {
  const TemporaryFolder folder;
  testing::write_bytes(folder.file("empty"), {});
  EXPECT_TRUE(MappedFile(folder.file("empty")).bytes().empty());
}

TEST_F(SmallFile, ReadTextRefusesLargerFiles) {
  EXPECT_EQ(read_text(path_).size(), 100u);
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)read_text(path_, 99); }),
              HasSubstr("has 100 B, expected at most 99 B"));
}

}  // namespace
}  // namespace sonde
