// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sonde/engine/base/error.h"
#include "tests/support/child.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

/// Paths on which std::filesystem throws.
class HostilePath : public ::testing::TestWithParam<std::string> {
 protected:
  HostilePath() {
    fs::create_symlink("ring_b", folder_.file("ring_a"));
    fs::create_symlink("ring_a", folder_.file("ring_b"));
    fs::create_directory(folder_.file("closed"));
    fs::create_directory(folder_.file("closed/inside"));
    chmod(folder_.file("closed").c_str(), 0600);
  }
  ~HostilePath() override { chmod(folder_.file("closed").c_str(), 0700); }
  [[nodiscard]] fs::path path() const { return folder_.path() / GetParam(); }

  TemporaryFolder folder_;
};

TEST_P(HostilePath, QuestionsAreAnsweredWithNo) {
  const std::string answers = testing::text_from_child([&] {
    chmod(folder_.path().c_str(), 0755);
    testing::become_nobody();
    return std::string(path_exists(path()) ? "exists " : "") + (is_folder(path()) ? "folder " : "") +
           (is_plain_file(path()) ? "file " : "") + (file_bytes(path()) ? "bytes " : "") + "asked";
  });
  EXPECT_EQ(answers, "asked");
}

TEST_P(HostilePath, ChangesAreErrorsWithPathAndReason) {
  const std::string text = testing::text_from_child([&] {
    chmod(folder_.path().c_str(), 0755);
    testing::become_nobody();
    make_folders(path() / "new");
    return std::string("made");
  });
  EXPECT_THAT(text, AllOf(HasSubstr("error: " + (path() / "new").string() + ": no folder can be made: "),
                          HasSubstr("hint: choose a folder that you may write to")));
}

TEST_P(HostilePath, ListingIsAnErrorWithThePath) {
  const std::string text = testing::text_from_child([&] {
    chmod(folder_.path().c_str(), 0755);
    testing::become_nobody();
    return std::to_string(entries_of(path()).size());
  });
  EXPECT_THAT(text, HasSubstr("error: " + path().string() + ": "));
}

INSTANTIATE_TEST_SUITE_P(Paths, HostilePath, ::testing::Values("ring_a", std::string(300, 'n'), "closed/inside"));

TEST(Paths, AFolderThatMayNotBeReadIsNoEmptyFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("shut"));
  chmod(folder.file("shut").c_str(), 0);
  for (const auto list : {&entries_of, &entries_below}) {
    const std::string text = testing::text_from_child([&] {
      chmod(folder.path().c_str(), 0755);
      testing::become_nobody();
      return std::to_string(list(folder.file("shut")).size());
    });
    EXPECT_THAT(text, HasSubstr("listing it failed: Permission denied"));
  }
}

TEST(Paths, EntriesBelowReachEverything) {
  const TemporaryFolder folder;
  fs::create_directories(folder.file("a/b"));
  testing::write_bytes(folder.file("a/b/c"), {1});
  EXPECT_THAT(entries_below(folder.path()),
              ::testing::UnorderedElementsAre(folder.file("a"), folder.file("a/b"), folder.file("a/b/c")));
  EXPECT_THAT(entries_of(folder.path()), ::testing::ElementsAre(folder.file("a")));
}

TEST(Paths, WithoutAWorkingFolderAPathStaysAsItIs) {
  const TemporaryFolder folder;
  const std::string text = testing::text_from_child([&] {
    fs::create_directory(folder.file("gone"));
    if (chdir(folder.file("gone").c_str()) != 0) return std::string("no folder");
    fs::remove(folder.file("gone"));
    return absolute_path("scan.h5").string();
  });
  EXPECT_EQ(text, "scan.h5");
}

TEST(Paths, BytesAreThoseOfTheFile) {
  const TemporaryFolder folder;
  testing::write_bytes(folder.file("three"), {1, 2, 3});
  EXPECT_EQ(file_bytes(folder.file("three")), 3u);
  EXPECT_EQ(file_bytes(folder.path()), std::nullopt);
  EXPECT_EQ(file_bytes(folder.file("none")), std::nullopt);
}

}  // namespace
}  // namespace sonde
