// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/separation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/json.h"
#include "tests/support/errors.h"
#include "tests/support/interrupts.h"

#include "sonde/instruments/separate/run/samples.h"
#include "sonde/instruments/separate/run/test_runs.h"

namespace sonde::separate {
namespace {

using sonde::testing::InterruptAt;

/// Up to the order of float32 sums.
void expect_near(const std::vector<float>& found, const std::vector<double>& expected) {
  double largest = 0;
  for (const float each : found) largest = std::max(largest, std::abs(static_cast<double>(each)));
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(static_cast<double>(found[i]), expected[i], 1e-6 * largest);
}

TEST(SeparateFile, WritesWhatTheDemixerGives) {
  Setting at;
  const auto samples = song(9000);
  const SeparationResult result = at.separate(at.task(samples));
  std::vector<float> expected(3 * samples.size());
  Index done = 0;
  Demixer demixer(
      demix_settings(at.of.config, {.overlap = 2}),
      [&](View<const float, 2> x, View<float, 3> y) { at.network.run(x, y); },
      [&](View<const float, 2>, View<const float, 3> stems) {
        for (Index row = 0; row < 6; ++row) {
          std::copy_n(stems.data + row * stems.extent[2], stems.extent[2], expected.data() + row * 9000 + done);
        }
        done += stems.extent[2];
      });
  demixer.push({samples.data(), 2, 9000});
  demixer.finish();
  const std::vector<std::string> names = at.of.config.stems();
  for (std::size_t s = 0; s < names.size(); ++s) {
    const std::vector<float> stem(expected.begin() + static_cast<std::ptrdiff_t>(s * samples.size()),
                                  expected.begin() + static_cast<std::ptrdiff_t>((s + 1) * samples.size()));
    EXPECT_EQ(all_of(at.folder.file("song/" + names[s] + ".wav")), stem) << names[s];
  }
  EXPECT_EQ(result.samples, 9000);
  EXPECT_EQ(result.chunks, demixer.chunks_done());
}

TEST(SeparateSamples, GivesTheBitsOfTheFile) {
  struct Way {
    const char* what;
    SeparationSettings settings;
    bool normalize = false;
    Index rate = 44100;
    Index count = 9000;
  };
  std::vector<Way> ways = {{"fade, more than is read at once", {.overlap = 1}, false, 44100, 70000},
                           {"uniform", {.overlap = 4, .policy = Policy::uniform}},
                           {"shifts and tta", {.overlap = 1, .shifts = 3, .tta = true}},
                           {"normalized", {.overlap = 2}, true},
                           {"48 kHz", {.overlap = 2}, false, 48000}};
  for (const Way& way : ways) {
    SCOPED_TRACE(way.what);
    Setting at;
    at.settings = way.settings;
    at.of.config.normalize = way.normalize;
    const auto samples = song(way.count);
    (void)at.separate(at.task(samples, {}, "song", way.rate));
    const Array heard = resampled({samples.data(), 2, way.count}, way.rate, 44100, 2);
    const Array made = separate_samples(heard.view<float, 2>(), way.settings, at.of.config, at.network);
    const auto stems = made.view<float, 3>();
    const std::vector<std::string> names = at.of.config.stems();
    for (std::size_t s = 0; s < names.size(); ++s) {
      const View<const float, 2> of = stems[static_cast<Index>(s)];
      EXPECT_EQ(all_of(at.folder.file("song/" + names[s] + ".wav")), std::vector<float>(of.data, of.data + of.count()))
          << names[s];
    }
  }
}

TEST(SeparateSamples, RefusesWhatIsNoSignalOfTheNetwork) {
  Setting at;
  const std::vector<float> samples(300);
  EXPECT_THAT(sonde::testing::error_of(
                  ErrorKind::bad_input,
                  [&] {
                    (void)separate_samples({samples.data(), 3, 100}, at.settings, at.of.config, at.network);
                  }),
              ::testing::HasSubstr("3 x 100, expected 2 channels"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] {
                                         (void)resampled({samples.data(), 3, 100}, 48000, 44100, 2);
                                       }),
              ::testing::HasSubstr("3 channels; expected 1 or 2"));
  const std::vector<float> broken = {0, 0, NAN, 0};
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] {
                                         (void)resampled({broken.data(), 2, 2}, 48000, 44100, 2);
                                       }),
              ::testing::HasSubstr("channel 1 has nan at sample 0"));
}

TEST(SeparateFile, TheRestAndAllStemsAreTheMixture) {
  Setting at;
  const auto samples = song(7000);
  (void)at.separate(at.task(samples, {.residuals = {"all"}}));
  std::vector<float> sum(samples.size());
  for (const char* name : {"kick", "snare", "hh", "residual"}) {
    const auto stem = all_of(at.folder.file(std::string("song/") + name + ".wav"));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += stem[i];
  }
  for (std::size_t i = 0; i < sum.size(); ++i)
    ASSERT_NEAR(sum[i], samples[i], 1e-6);  // float32 files of numbers below 1
}

TEST(SeparateFile, LeavesNothingWhenItFails) {
  Setting at;
  EXPECT_ANY_THROW((void)at.separate(at.task({NAN, NAN, 0, 0})));
  for (const auto& each : std::filesystem::recursive_directory_iterator(at.folder.path())) {
    EXPECT_TRUE(each.is_directory() || each.path().filename() == "song.wav") << each.path();
  }
}

TEST(SeparateFile, WritesASummaryOfTheStems) {
  Setting at;
  const SeparationResult result = at.separate(at.task(song(7000)));
  const Value summary = read_json(at.folder.file("song/separation.json"));
  EXPECT_EQ(summary.find("overlap")->as_whole(), 2);
  EXPECT_EQ(summary.find("samples")->as_whole(), 7000);
  const Value& kick = summary.find("stems")->items().front();
  EXPECT_EQ(kick.find("file")->as_text(), "kick.wav");
  EXPECT_EQ(kick.find("peak")->as_real(), result.written.outputs[0].peak);
  EXPECT_FALSE(std::filesystem::exists(at.folder.file("song/separation.part")));
}

TEST(SeparateFile, GivesTheSameBitsForEveryNumberOfThreads) {
  Setting at;
  const SeparationTask task = at.task(song(5000));
  const int before = thread_count();
  std::vector<float> expected;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    Plan plan = Plan::prepare(at.of.config, formula_values(at.of.config, at.of.seed));
    (void)separate_file(task, at.settings, at.of.config, plan);
    if (threads == 1) expected = at.kick();
    EXPECT_EQ(at.kick(), expected) << threads;
  }
  set_thread_count(before);
}

/// Stops at each look whether to stop, in turn, and resumes: each time with what is written at once.
void expect_resumes(Setting& at) {
  const SeparationTask task = at.task(song(9000), {.residuals = {"all"}});
  InterruptAt counting;
  const SeparationResult whole = at.separate(task);
  const int looks = counting.looks();
  std::vector<std::vector<float>> expected;
  for (const std::string& path : task.paths) expected.push_back(all_of(path));
  at.settings.resume = true;
  Index computed_again = 0;
  // Nothing of the signal is finished after the first chunk, which begins before it.
  for (int look = 3; look <= looks; ++look) {
    SCOPED_TRACE(look);
    std::filesystem::remove_all(at.folder.path() / "song");
    {
      const InterruptAt interrupted(look);
      EXPECT_THROW((void)at.separate(task), Error);
    }
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(at.folder.path() / "song")) {
      names.push_back(each.path().filename().string());
    }
    EXPECT_THAT(names, ::testing::ElementsAre("separation.part"));
    const SeparationResult rest = at.separate(task);
    EXPECT_GT(rest.resumed_at, 0);
    EXPECT_LE(rest.chunks, whole.chunks);
    computed_again += rest.chunks;
    for (std::size_t i = 0; i < task.paths.size(); ++i) EXPECT_EQ(all_of(task.paths[i]), expected[i]) << task.paths[i];
  }
  // Half of them on average, and what overlaps.
  EXPECT_LT(computed_again, (looks - 1) * whole.chunks * 3 / 4);
}

TEST(SeparateFile, ResumesWithTheSameBitsAfterEveryChunk) {
  Setting at;
  expect_resumes(at);
}

TEST(SeparateFile, ResumesInEveryPass) {
  Setting at;
  at.settings.shifts = 3;
  expect_resumes(at);
}

TEST(SeparateFile, SkipsWhatIsComplete) {
  Setting at;
  const SeparationTask task = at.task(song(5000));
  (void)at.separate(task);
  at.settings.resume = true;
  EXPECT_TRUE(at.separate(task).was_complete);
  std::filesystem::remove(at.folder.file("song/kick.wav"));
  EXPECT_FALSE(at.separate(task).was_complete);
  at.settings.overlap = 4;
  EXPECT_FALSE(at.separate(task).was_complete);
}

TEST(SeparateFile, TestTimeAugmentationIsTheMeanOfThreeResults) {
  Setting at;
  const auto samples = song(6000);
  std::vector<double> mean(samples.size());
  for (const int way : {0, 1, 2}) {
    std::vector<float> changed = samples;
    if (way == 1) std::rotate(changed.begin(), changed.begin() + 6000, changed.end());
    if (way == 2) std::transform(changed.begin(), changed.end(), changed.begin(), std::negate<>{});
    (void)at.separate(at.task(changed));
    std::vector<float> kick = at.kick();
    if (way == 1) std::rotate(kick.begin(), kick.begin() + 6000, kick.end());
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += (way == 2 ? -1.0 : 1.0) * static_cast<double>(kick[i]) / 3;
  }
  at.settings.tta = true;
  (void)at.separate(at.task(samples));
  expect_near(at.kick(), mean);
}

TEST(SeparateFile, ShiftsAreTheMeanOverTheFileInACircle) {
  Setting at;
  const auto samples = song(6001);
  std::vector<double> mean(samples.size());
  for (const Index shift : {0, 2000, 4000}) {  // by thirds of 6001, rounded down
    std::vector<float> turned = samples;
    for (const Index row : {0, 6001})
      std::rotate(turned.begin() + row, turned.begin() + row + shift, turned.begin() + row + 6001);
    (void)at.separate(at.task(turned));
    const std::vector<float> kick = at.kick();
    for (Index c = 0; c < 2; ++c) {
      for (Index i = 0; i < 6001; ++i) {
        mean[static_cast<std::size_t>(c * 6001 + (i + shift) % 6001)] +=
            static_cast<double>(kick[static_cast<std::size_t>(c * 6001 + i)]) / 3;
      }
    }
  }
  at.settings.shifts = 3;
  (void)at.separate(at.task(samples));
  expect_near(at.kick(), mean);
}

TEST(SeparateFile, RescalesAllStemsByOneFactor) {
  Setting at;
  auto loud = song(6000);
  for (float& each : loud) each *= 100;
  const SeparationTask task = at.task(loud);
  (void)at.separate(task);
  const std::vector<float> floating = at.kick();
  at.settings.writing.file.type = SampleType::pcm16;
  at.settings.writing.file.dither = Dither::off;
  EXPECT_GT(at.separate(task).written.outputs[0].clipped, 0);
  at.settings.writing.clip = Clip::rescale;
  const SeparationResult result = at.separate(task);
  double peak = 0;
  for (const WrittenStems::Stem& each : result.written.outputs) {
    EXPECT_EQ(each.clipped, 0);
    peak = std::max(peak, each.peak);
  }
  EXPECT_NEAR(peak, 1 - std::ldexp(1.0, -15), 1e-6);
  const std::vector<float> rescaled = at.kick();
  for (std::size_t i = 0; i < rescaled.size(); ++i) {
    // Half a step of 16 bits.
    ASSERT_NEAR(static_cast<double>(rescaled[i]), result.written.gain * static_cast<double>(floating[i]), 0.51 / 32768);
  }
}

TEST(SeparateFile, WritesFloatingPointWhereIntegersWouldBeClipped) {
  Setting at;
  auto loud = song(6000);
  for (float& each : loud) each *= 100;
  at.settings.writing.file.type = SampleType::pcm16;
  at.settings.writing.clip = Clip::to_float;
  EXPECT_TRUE(at.separate(at.task(loud)).written.floating);
  EXPECT_EQ(AudioReader(at.folder.file("song/kick.wav"), {}).info().format, "WAV, float32");
  EXPECT_FALSE(at.separate(at.task(std::vector<float>(12000))).written.floating);
}

TEST(SeparateFile, KeepsRateAndLengthOfTheFile) {
  Setting at;
  at.settings.writing.keep_rate = true;
  const SeparationTask task = at.task(song(9001), {.mixes = {"copy=mixture"}}, "song", 48000);
  (void)at.separate(task);
  const AudioReader kick(task.paths[0], {.rate = 48000});
  EXPECT_EQ(kick.info().rate, 48000);
  EXPECT_EQ(kick.frames(), 9001);
  // There and back again: what a wave of 84 Hz loses in two conversions of 28 bits, away from the ends.
  const auto copy = AudioReader(task.paths[3], {.rate = 48000}).read(9001), before = song(9001);
  for (std::size_t i = 500; i < 8500; ++i) ASSERT_NEAR(copy[i], before[i], 1e-5);
}

TEST(SeparateFiles, GivesEachFileWhatItGetsByItself) {
  Setting at;
  std::vector<SeparationTask> tasks;
  std::vector<std::vector<float>> expected;
  for (const Index length : {5000, 9000, 300}) {
    tasks.push_back(at.task(song(length), {}, "song" + std::to_string(length)));
    (void)at.separate(tasks.back());
    expected.push_back(all_of(tasks.back().paths[1]));
  }
  std::vector<std::size_t> order;
  separate_files(tasks, at.settings, at.of.config, at.network, [&](std::size_t task, const SeparationResult& result) {
    order.push_back(task);
    EXPECT_EQ(result.samples, static_cast<Index>(expected[task].size()) / 2);
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2}));
  for (std::size_t i = 0; i < tasks.size(); ++i) EXPECT_EQ(all_of(tasks[i].paths[1]), expected[i]);
}

}  // namespace
}  // namespace sonde::separate
