// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/separation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/support/files.h"

#include "sonde/instruments/separate/network/test_cases.h"

namespace sonde::separate {
namespace {

using sonde::testing::TemporaryFolder;

std::vector<float> song(Index count) {
  std::vector<float> samples(static_cast<std::size_t>(2 * count));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 0.2F * std::sin(0.011F * static_cast<float>(i));
  return samples;
}

std::vector<float> all_of(const std::string& path) {
  AudioReader reader(path, {});
  return reader.read(reader.frames());
}

struct Setting {
  TemporaryFolder folder;
  ReferenceCase of = case_a();
  Plan plan = Plan::prepare(of.config, formula_values(of.config, of.seed));

  SeparationResult separate(const std::vector<float>& samples, const std::string& mix = "") {
    AudioWriter writer(folder.file("song.wav"), {});
    writer.write({samples.data(), 2, static_cast<Index>(samples.size()) / 2});
    writer.commit();
    SeparationTask task{.input = folder.file("song.wav"), .outputs = choose_outputs(of.config.stems(), "", {})};
    if (!mix.empty()) task.outputs = choose_outputs(of.config.stems(), "", {mix});
    for (const Output& each : task.outputs) task.paths.push_back(folder.file("stems/" + each.name + ".wav"));
    return separate_file(task, {.overlap = 2}, of.config, plan);
  }
};

TEST(SeparateFile, WritesWhatTheDemixerGives) {
  Setting at;
  const auto samples = song(9000);
  const SeparationResult result = at.separate(samples);
  std::vector<float> expected(3 * samples.size());
  Index done = 0;
  Demixer demixer(
      demix_settings(at.of.config, {.overlap = 2}),
      [&](View<const float, 2> x, View<float, 3> y) { at.plan.run(x, y); },
      [&](View<const float, 3> stems) {
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
    EXPECT_EQ(all_of(at.folder.file("stems/" + names[s] + ".wav")), stem) << names[s];
  }
  EXPECT_EQ(result.samples, 9000);
  EXPECT_EQ(result.chunks, demixer.chunks_done());
}

TEST(SeparateFile, TheRestAndAllStemsAreTheMixture) {
  Setting at;
  const auto samples = song(7000);
  (void)at.separate(samples, "rest=mixture-kick-snare-hh");
  std::vector<float> sum(samples.size());
  for (const char* name : {"kick", "snare", "hh", "rest"}) {
    const auto stem = all_of(at.folder.file(std::string("stems/") + name + ".wav"));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += stem[i];
  }
  for (std::size_t i = 0; i < sum.size(); ++i)
    ASSERT_NEAR(sum[i], samples[i], 1e-6);  // float32 files of numbers below 1
}

TEST(SeparateFile, LeavesNothingWhenItFails) {
  Setting at;
  EXPECT_ANY_THROW((void)at.separate({NAN, NAN, 0, 0}));
  for (const auto& each : std::filesystem::recursive_directory_iterator(at.folder.path())) {
    EXPECT_TRUE(each.is_directory() || each.path().filename() == "song.wav") << each.path();
  }
}

}  // namespace
}  // namespace sonde::separate
