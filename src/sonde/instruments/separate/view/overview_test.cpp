// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/view/overview.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/instruments/separate/view/test_songs.h"
#include "tests/support/files.h"

namespace sonde::separate {
namespace {

using sonde::testing::TemporaryFolder;

/// A saw tooth of 1000 samples from -0.5 to 0.5 in the left channel, silence in the right one.
std::vector<float> saw(Index frames) {
  std::vector<float> samples(static_cast<std::size_t>(2 * frames));
  for (Index i = 0; i < frames; ++i) samples[static_cast<std::size_t>(i)] = static_cast<float>(i % 1000) / 999 - 0.5f;
  return samples;
}

Overview finished(const std::string& path) {
  Overview overview(path);
  while (overview.done() < 1) overview.advance(std::chrono::milliseconds(50));
  return overview;
}

TEST(Overview, PeaksOfALongStretchAreThoseOfTheSamples) {
  const TemporaryFolder folder;
  write_wav(folder.file("saw.wav"), saw(100000), 2);
  const auto peaks = finished(folder.file("saw.wav")).peaks({0, 100000, 10});
  for (std::size_t c = 0; c < 10; ++c) {
    EXPECT_FLOAT_EQ(peaks[c], -0.5f);
    EXPECT_FLOAT_EQ(peaks[10 + c], 0.5f);
    // Of a saw tooth 1 / sqrt(12), of two channels of which one is silent 1 / sqrt(2) of it; blocks of 256 do not end
    // with the column of ten periods, whose squares then differ by a block of 40 at most.
    EXPECT_NEAR(peaks[20 + c], 1 / std::sqrt(24.0), 0.01);
  }
}

TEST(Overview, PeaksOfAShortStretchAreReadFromTheFile) {
  const TemporaryFolder folder;
  write_wav(folder.file("saw.wav"), saw(100000), 2);
  const auto peaks = finished(folder.file("saw.wav")).peaks({5700, 4, 2});
  EXPECT_FLOAT_EQ(peaks[0], 0.0f);  // the other channel
  EXPECT_FLOAT_EQ(peaks[2], 701.0f / 999 - 0.5f);
  EXPECT_FLOAT_EQ(peaks[3], 703.0f / 999 - 0.5f);
  EXPECT_FLOAT_EQ(finished(folder.file("saw.wav")).peaks({5999, 1, 1})[1], 0.5f);
  EXPECT_FLOAT_EQ(finished(folder.file("saw.wav")).peaks({6000, 1, 1})[0], -0.5f);
}

TEST(Overview, MoreColumnsThanSamplesRepeatThem) {
  const TemporaryFolder folder;
  write_wav(folder.file("saw.wav"), saw(100000), 2);
  const auto peaks = finished(folder.file("saw.wav")).peaks({6000, 1, 3});
  EXPECT_FLOAT_EQ(peaks[0], -0.5f);
  EXPECT_FLOAT_EQ(peaks[2], -0.5f);
}

TEST(Overview, WhatHasNotBeenSeenIsNotANumber) {
  const TemporaryFolder folder;
  write_wav(folder.file("saw.wav"), saw(400000), 2);
  Overview overview(folder.file("saw.wav"));
  overview.advance(std::chrono::milliseconds(0));  // one step of 32768 frames
  EXPECT_NEAR(overview.done(), 32768.0 / 400001, 1e-12);
  const auto peaks = overview.peaks({0, 400000, 10});
  EXPECT_FLOAT_EQ(peaks[0], -0.5f);
  EXPECT_TRUE(std::isnan(peaks[5]));
  EXPECT_EQ(overview.levels({0, 400000, 10}).at(5), 0);
}

TEST(Overview, LevelsShowAToneInItsBand) {
  const TemporaryFolder folder;
  std::vector<float> tone(64000);
  for (std::size_t i = 32000; i < tone.size(); ++i)
    tone[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * 1000 * static_cast<double>(i) / 16000));
  write_wav(folder.file("tone.wav"), tone, 1, 16000);
  const Overview overview = finished(folder.file("tone.wav"));
  const auto levels = overview.levels({0, 64000, 8});
  const auto [bands, lowest, highest] =
      std::tuple(overview.style().bands, overview.style().lowest_hz, overview.style().highest_hz);
  EXPECT_EQ(highest, 8000);
  const auto band =
      static_cast<std::size_t>(static_cast<double>(bands) * std::log(1000 / lowest) / std::log(highest / lowest));
  const double db = Overview::range_db * (levels[band * 8 + 6] / 255.0 - 1);
  EXPECT_NEAR(db, 20 * std::log10(0.5), 1.5);  // a bin beside the maximum of the window at most
  EXPECT_EQ(levels[band * 8 + 1], 0);
  EXPECT_LT(levels[(band - 12) * 8 + 6], 60);
}

TEST(Overview, MemoryDoesNotGrowWithVeryLongFiles) {
  const auto of_hours = [](Index hours) { return Overview::bytes_for(hours * 3600 * 44100); };
  EXPECT_LT(of_hours(1), std::size_t{20} << 20);
  EXPECT_EQ(of_hours(10), of_hours(1000));
}

}  // namespace
}  // namespace sonde::separate
