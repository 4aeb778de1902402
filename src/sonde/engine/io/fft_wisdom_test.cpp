// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/fft_wisdom.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "sonde/engine/base/text.h"
#include "sonde/engine/math/fft.h"
#include "tests/support/child.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

std::multiset<std::string> lines_of(const std::string& text) {
  const std::vector<std::string> lines = split(text, '\n');
  return {lines.begin(), lines.end()};
}

class FftWisdomFile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(fft_library()) == "kissfft") GTEST_SKIP() << "kissfft measures nothing";
    (void)Fft2d<float>::prepare({.rows = 24, .cols = 40, .effort = FftEffort::measured});
  }
  testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("new folder/fft-wisdom");
};

TEST_F(FftWisdomFile, GivesBackWhatWasLearnt) {
  const auto learnt = lines_of(fft_wisdom());
  save_fft_wisdom(path_);
  forget_fft_wisdom();
  ASSERT_NE(lines_of(fft_wisdom()), learnt);
  EXPECT_TRUE(load_fft_wisdom(path_));
  EXPECT_EQ(lines_of(fft_wisdom()), learnt);
}

TEST_F(FftWisdomFile, OfAnotherProcessorOrDamagedIsIgnored) {
  save_fft_wisdom(path_);
  const std::vector<std::uint8_t> bytes = testing::read_bytes(path_);
  auto other = bytes;
  other[30] ^= 1;  // in the first line
  testing::write_bytes(path_, other);
  EXPECT_FALSE(load_fft_wisdom(path_));
  testing::write_bytes(path_, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() - 20)});
  EXPECT_FALSE(load_fft_wisdom(path_));
  EXPECT_FALSE(load_fft_wisdom(folder_.file("missing")));
  EXPECT_FALSE(load_fft_wisdom(""));
}

TEST_F(FftWisdomFile, OneThatCannotBeWrittenIsNoError) {
  EXPECT_EQ(testing::text_from_child([&]() -> std::string {
              save_fft_wisdom("/proc/none/fft-wisdom");
              save_fft_wisdom("");
              return "went on";
            }),
            "went on");
}

TEST(CachePath, IsInTheFolderOfTheUser) {
  EXPECT_EQ(testing::text_from_child([]() -> std::string {
              setenv("HOME", "/home/x", 1);
              unsetenv("XDG_CACHE_HOME");
              std::string all = cache_path("a") + " ";
              setenv("XDG_CACHE_HOME", "/cache", 1);
              all += cache_path("a") + " ";
              unsetenv("HOME");
              setenv("XDG_CACHE_HOME", "", 1);
              return all + "[" + cache_path("a") + "]";
            }),
            "/home/x/.cache/sonde/a /cache/sonde/a []");
}

}  // namespace
}  // namespace sonde
