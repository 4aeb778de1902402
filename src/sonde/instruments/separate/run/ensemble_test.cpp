// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/ensemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

#include "sonde/instruments/separate/audio/audio_reader.h"
#include "sonde/instruments/separate/audio/audio_writer.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;

struct Folders {
  sonde::testing::TemporaryFolder folder;

  void write(const std::string& path, const std::vector<float>& samples, Index rate = 44100) const {
    std::filesystem::create_directories(std::filesystem::path(folder.file(path)).parent_path());
    AudioWriter writer(folder.file(path), {.rate = rate});
    writer.write({samples.data(), 2, static_cast<Index>(samples.size()) / 2});
    writer.commit();
  }
  [[nodiscard]] std::vector<EnsembleTask> tasks(std::vector<std::string>& left_out) const {
    return ensemble_tasks({folder.file("a"), folder.file("b"), folder.file("c")}, folder.file("out"), left_out);
  }
};

/// Longer than what is read at once.
std::vector<float> wave(float phase) {
  std::vector<float> samples(2 * 20000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = std::sin(phase + 0.013F * static_cast<float>(i));
  return samples;
}

class EnsembleOf : public ::testing::TestWithParam<Blend> {};

TEST_P(EnsembleOf, IsThatOfEachSampleInDoublePrecision) {
  const Folders at;
  const std::vector<std::vector<float>> files = {wave(0), wave(1), wave(2.5F)};
  at.write("a/Kick.wav", files[0]);
  at.write("b/kick.wav", files[1]);
  at.write("c/KICK.wav", files[2]);
  std::vector<std::string> left_out;
  const EnsembleTask task = at.tasks(left_out).at(0);
  std::filesystem::create_directories(at.folder.file("out"));
  const std::vector<double> weights = {3, 1, 1};
  (void)blend_files(task, GetParam(), weights);
  AudioReader reader(at.folder.file("out/Kick.wav"), {});
  const std::vector<float> found = reader.read(reader.frames());
  ASSERT_EQ(found.size(), files[0].size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<double> values;
    for (const auto& each : files) values.push_back(static_cast<double>(each[i]));
    double expected = (3 * values[0] + values[1] + values[2]) / 5;
    if (GetParam() == Blend::median) expected = values[0];  // it has more than half of the weight
    std::sort(values.begin(), values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (GetParam() == Blend::smallest) expected = values.front();
    if (GetParam() == Blend::largest) expected = values.back();
    ASSERT_NEAR(static_cast<double>(found[i]), expected, 6e-8) << i;  // a rounding to float32
  }
}

INSTANTIATE_TEST_SUITE_P(Blend, EnsembleOf,
                         ::testing::Values(Blend::mean, Blend::median, Blend::smallest, Blend::largest));

TEST(Ensemble, MedianIsWhereHalfOfTheWeightIsBelow) {
  std::vector<std::size_t> order;
  const auto median = [&](std::vector<float> values, std::vector<double> weights) {
    return blended(Blend::median, values, weights, order);
  };
  EXPECT_EQ(median({3, 1, 2}, {1, 1, 1}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}, {1, 1, 1, 1}), 2.5);
  EXPECT_EQ(median({3, 1, 2}, {1, 3, 1}), 1);
  EXPECT_EQ(median({3, 1, 2}, {2, 1, 1}), 2.5);
}

TEST(Ensemble, HasTheStemsThatEveryFolderHas) {
  const Folders at;
  for (const char* path : {"a/kick.wav", "b/kick.wav", "c/kick.wav", "a/snare.wav", "c/snare.wav"})
    at.write(path, {0, 0, 0, 0});
  std::vector<std::string> left_out;
  const auto tasks = at.tasks(left_out);
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].output, at.folder.file("out/kick.wav"));
  EXPECT_EQ(left_out, (std::vector<std::string>{at.folder.file("a/snare.wav"), at.folder.file("c/snare.wav")}));
}

TEST(Ensemble, RefusesFilesOfOtherLengthsAndRatesAndTwoOfOneName) {
  const Folders at;
  at.write("a/kick.wav", {0, 0, 0, 0});
  at.write("b/kick.wav", {0, 0});
  at.write("c/kick.wav", {0, 0, 0, 0}, 48000);
  const auto text = [&](const char* a, const char* b) {
    return error_of(ErrorKind::bad_input, [&] {
      (void)require_alike({"kick", {at.folder.file(a), at.folder.file(b)}, ""});
    });
  };
  EXPECT_THAT(text("a/kick.wav", "b/kick.wav"), ::testing::HasSubstr("kick.wav: 2 samples, but "));
  EXPECT_THAT(text("a/kick.wav", "c/kick.wav"), ::testing::HasSubstr("kick.wav: 44100 Hz, but "));
  at.write("a/Kick.wav", {0, 0});
  std::vector<std::string> left_out;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)at.tasks(left_out); }),
              ::testing::HasSubstr("two files of one stem"));
}

}  // namespace
}  // namespace sonde::separate
