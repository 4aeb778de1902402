// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/spool.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/child.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;

constexpr Spool::Layout two_stems{.channels = 1, .stems = 2};

/// (1, count) and (2, 1, count): numbers from `first` on, their tenfold and hundredfold.
struct Numbers {
  std::vector<float> mixture, stems;
  Index count;
  Numbers(Index first, Index of) : count(of) {
    for (const float factor : {1.0F, 10.0F, 100.0F}) {
      for (Index i = first; i < first + count; ++i)
        (factor == 1 ? mixture : stems).push_back(factor * static_cast<float>(i));
    }
  }
  void append_to(Spool& spool) const { spool.append({mixture.data(), 1, count}, {stems.data(), 2, 1, count}); }
};

std::vector<float> frames(const Spool& spool, Index first, Index count) {
  std::vector<float> read(static_cast<std::size_t>(count * spool.frame()));
  spool.read(first, read);
  return read;
}

TEST(Spool, KeepsTheMixtureAndAllStemsOfASample) {
  const TemporaryFolder folder;
  Spool spool = Spool::begin(folder.file("a.part"), "x\n", two_stems);
  Numbers(1, 2).append_to(spool);
  Numbers(3, 1).append_to(spool);
  spool.end_pass();
  EXPECT_EQ(spool.samples(), 3);
  EXPECT_EQ(frames(spool, 1, 2), (std::vector<float>{2, 20, 200, 3, 30, 300}));
}

TEST(Spool, AddsALaterPassInACircle) {
  const TemporaryFolder folder;
  Spool spool = Spool::begin(folder.file("a.part"), "x\n", two_stems);
  Numbers(1, 3).append_to(spool);
  spool.end_pass();
  const std::vector<float> one{1, 2, 3, 4};
  spool.add(2, {one.data(), 2, 1, 2});  // samples 2 and 0
  EXPECT_EQ(spool.finished(), 2);
  EXPECT_EQ(frames(spool, 0, 3), (std::vector<float>{1, 12, 104, 2, 20, 200, 3, 31, 303}));
}

TEST(Spool, KeepsTheMeanOfWhatCameWithItsWeight) {
  const TemporaryFolder folder;
  Spool spool = Spool::begin(folder.file("a.part"), "x\n", {.channels = 1, .stems = 2, .means = true});
  const Numbers numbers(1, 2);
  const std::vector<float> weights{1, 0.5};
  spool.append({numbers.mixture.data(), 1, 2}, {numbers.stems.data(), 2, 1, 2}, {weights.data(), 2});
  spool.end_pass();
  EXPECT_EQ(frames(spool, 0, 2), (std::vector<float>{1, 10, 100, 1, 2, 20, 200, 0.5}));
  const std::vector<float> more{50, 60, 500, 600};
  const std::vector<float> heavy{3, 0};
  spool.weigh_in(0, {more.data(), 2, 1, 2}, View<const float, 1>(heavy.data(), 2));
  EXPECT_EQ(spool.finished(), 2);
  EXPECT_EQ(frames(spool, 0, 2), (std::vector<float>{1, 40, 400, 4, 2, 20, 200, 0.5}));
}

TEST(Spool, KeepsTheVarianceOfEachStemAroundItsMean) {
  const TemporaryFolder folder;
  Spool spool =
      Spool::begin(folder.file("a.part"), "x\n", {.channels = 1, .stems = 2, .means = true, .variances = true});
  const Numbers numbers(1, 1);
  const std::vector<float> one{1}, three{3}, more{50, 100};
  spool.append({numbers.mixture.data(), 1, 1}, {numbers.stems.data(), 2, 1, 1}, {one.data(), 1});
  spool.end_pass();
  EXPECT_EQ(frames(spool, 0, 1), (std::vector<float>{1, 10, 100, 1, 0, 0}));
  spool.weigh_in(0, {more.data(), 2, 1, 1}, View<const float, 1>(three.data(), 1));
  // (30^2 + 3 * 10^2) / 4
  EXPECT_EQ(frames(spool, 0, 1), (std::vector<float>{1, 40, 100, 4, 300, 0}));
}

TEST(Spool, CountsAMeanAsOftenAsItIsSaid) {
  const TemporaryFolder folder;
  Spool spool = Spool::begin(folder.file("a.part"), "x\n", {.channels = 1, .stems = 2, .means = true});
  const Numbers numbers(1, 2);
  const std::vector<float> weights{1, 0.5};
  spool.append({numbers.mixture.data(), 1, 2}, {numbers.stems.data(), 2, 1, 2}, {weights.data(), 2});
  spool.end_pass();
  const std::vector<float> more{50, 60, 500, 600};
  spool.weigh_in(0, {more.data(), 2, 1, 2}, 3);  // (3 * 10 + 50) / 4, ...
  EXPECT_EQ(frames(spool, 0, 2), (std::vector<float>{1, 20, 200, 1, 2, 30, 300, 0.5}));
}

TEST(Spool, IsContinuedByAnotherProcess) {
  const TemporaryFolder folder;
  {
    Spool spool = Spool::begin(folder.file("a.part"), "overlap 4\n", two_stems);
    Numbers(1, 2).append_to(spool);
  }
  auto again = Spool::resume(folder.file("a.part"), "overlap 4\n", two_stems);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->pass(), 0);
  EXPECT_EQ(again->finished(), 2);
  Numbers(3, 1).append_to(*again);
  EXPECT_EQ(frames(*again, 1, 2), (std::vector<float>{2, 20, 200, 3, 30, 300}));
}

TEST(Spool, ContinuesNothingOfAnotherOriginAndSaysWhatDiffers) {
  const TemporaryFolder folder;
  EXPECT_FALSE(Spool::resume(folder.file("a.part"), "x", two_stems));
  { const Spool made = Spool::begin(folder.file("a.part"), "input a.wav\noverlap 4\n", two_stems); }
  EXPECT_EQ(
      error_of(ErrorKind::bad_input,
               [&] { (void)Spool::resume(folder.file("a.part"), "input a.wav\noverlap 2\n", two_stems); }),
      "error: " + folder.file("a.part") +
          ": was begun with \"overlap 4\"; now it is \"overlap 2\"\nhint: restore the settings and files, or leave "
          "out --resume to begin again");
}

TEST(Spool, DoesNotContinueWhatEndedInTheMiddle) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.part");
  {
    Spool spool = Spool::begin(path, "x\n", two_stems);
    Numbers(1, 100).append_to(spool);
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_FALSE(Spool::resume(path, "x\n", two_stems));
  std::filesystem::resize_file(path, 10);
  EXPECT_FALSE(Spool::resume(path, "x\n", two_stems));
}

TEST(Spool, NeverReplacesAFileOfOthers) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("a.part")) << "a diary";
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)Spool::begin(folder.file("a.part"), "x", two_stems); }),
            "error: " + folder.file("a.part") +
                ": is not a file of sonde's and is not replaced\nhint: rename it, or choose another --output");
}

TEST(Spool, IsWrittenByOneRunAtATime) {
  const TemporaryFolder folder;
  const Spool one = Spool::begin(folder.file("a.part"), "x", two_stems);
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)Spool::begin(folder.file("a.part"), "x", two_stems); }),
            "error: " + folder.file("a.part") +
                ": another run is at work on this file; expected one at a time\nhint: wait for it, or choose another "
                "--output");
}

TEST(Spool, SaysThatThereIsNoSpace) {
  const TemporaryFolder folder;
  const std::string text = sonde::testing::text_from_child([&]() -> std::string {
    sonde::testing::limit_file_size(10000);
    Spool spool = Spool::begin(folder.file("a.part"), "x", two_stems);
    Numbers(1, 1000).append_to(spool);
    return "written";
  });
  EXPECT_EQ(text, "error: " + folder.file("a.part") + ": writing failed: File too large");
}

}  // namespace
}  // namespace sonde::separate
