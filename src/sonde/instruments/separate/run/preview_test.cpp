// SPDX-License-Identifier: Apache-2.0
// Stems that are there after the first pass, and what later passes make of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/json.h"
#include "tests/support/interrupts.h"

#include "sonde/instruments/separate/run/test_runs.h"

namespace sonde::separate {
namespace {

using sonde::testing::InterruptAt;

/// Each stem is the mixture, louder with each sample of a chunk.
class Slope final : public Network {
 public:
  static double gain(Index at, Index chunk) { return 1 + static_cast<double>(at) / static_cast<double>(chunk); }
  void run(View<const float, 2> samples, View<float, 3> stems) override {
    const Index chunk = samples.extent[1];
    for (Index s = 0; s < stems.extent[0]; ++s) {
      for (Index c = 0; c < samples.extent[0]; ++c) {
        for (Index i = 0; i < chunk; ++i) stems(s, c, i) = static_cast<float>(gain(i, chunk)) * samples(c, i);
      }
    }
  }
  [[nodiscard]] std::vector<Time> times() const override { return {}; }
};

/// Something that depends on the place in a chunk, on its sign and on which channel is which.
class Crooked final : public Network {
 public:
  void run(View<const float, 2> samples, View<float, 3> stems) override {
    const Index chunk = samples.extent[1];
    for (Index s = 0; s < stems.extent[0]; ++s) {
      for (Index c = 0; c < 2; ++c) {
        for (Index i = 0; i < chunk; ++i) {
          const float x = samples(c, i), other = samples(0, i),
                      slope = static_cast<float>(i) / static_cast<float>(chunk);
          stems(s, c, i) = (1 + slope) * x + static_cast<float>(s) * x * x + slope * other;
        }
      }
    }
  }
  [[nodiscard]] std::vector<Time> times() const override { return {}; }
};

/// The factor of sample `at` of `count` in the mean of the chunks whose numbers modulo `overlap` are in `parts`: the
/// rule of Policy::fade, summed directly.
double slope_of(Index at, Index count, Index chunk, Index overlap, const std::vector<Index>& parts) {
  const Index step = chunk / overlap, border = chunk - step, fade = chunk / 10, all = count + 2 * border;
  double sum = 0, weights = 0;
  for (Index number = 0; number * step < all; ++number) {
    const Index i = border + at - number * step;
    if (i < 0 || i >= chunk || std::count(parts.begin(), parts.end(), number % overlap) == 0) continue;
    double weight = 1;
    if (i < fade && number > 0) weight = static_cast<double>(i) / static_cast<double>(fade - 1);
    const bool last = (number + 1) * step >= all;
    if (chunk - 1 - i < fade && !last) weight = static_cast<double>(chunk - 1 - i) / static_cast<double>(fade - 1);
    weight = std::max(weight, 1e-9);  // where nothing else covers the sample
    sum += weight * Slope::gain(i, chunk);
    weights += weight;
  }
  return sum / weights;
}

TEST(Preview, IsTheWeightedMeanOfTheChunksSoFarAfterEveryPass) {
  Setting at;
  Slope slope;
  at.settings = {.overlap = 4, .preview = true};
  constexpr Index count = 9000;
  const std::vector<float> samples = song(count);
  const std::vector<std::vector<Index>> parts = {{0}, {0, 2}, {0, 2, 1}, {0, 2, 1, 3}};
  std::size_t previews = 0;
  const auto compare = [&] {
    SCOPED_TRACE(previews);
    const std::vector<float> kick = at.kick();
    ASSERT_EQ(kick.size(), samples.size());
    for (Index i = 0; i < count; ++i) {
      const double factor = slope_of(i, count, at.of.config.chunk, 4, parts.at(previews));
      // Each pass rounds three times, numbers up to 0.4 and weights up to 4.
      ASSERT_NEAR(kick[static_cast<std::size_t>(i)], factor * static_cast<double>(samples[static_cast<std::size_t>(i)]),
                  1e-6)
          << i;
    }
    ++previews;
  };
  at.settings.refined = [&](const SeparationTask&, const SeparationResult& result) {
    EXPECT_EQ(result.passes_done, static_cast<Index>(previews) + 1);
    EXPECT_EQ(result.passes, 4);
    compare();
  };
  (void)separate_file(at.task(samples), at.settings, at.of.config, slope);
  EXPECT_EQ(previews, 3);
  compare();
}

TEST(Preview, EndsWithTheStemsOfAnOrdinaryRunForTheSameWork) {
  struct Way {
    const char* what;
    SeparationSettings settings;
    bool normalize = false;
    Index count = 9000;
  };
  const std::vector<Way> ways = {{"fade", {.overlap = 4}},
                                 {"an overlap that is no power of two", {.overlap = 3}},
                                 {"uniform", {.overlap = 4, .policy = Policy::uniform}},
                                 {"shorter than a chunk", {.overlap = 4}, false, 300},
                                 {"changes and shifts", {.overlap = 2, .shifts = 3, .tta = true}},
                                 {"one chunk for each sample", {.overlap = 1, .shifts = 2}},
                                 {"normalized", {.overlap = 2}, true}};
  Setting at;
  Crooked network;
  const auto separate = [&](const SeparationTask& task) {
    return separate_file(task, at.settings, at.of.config, network);
  };
  for (const Way& way : ways) {
    SCOPED_TRACE(way.what);
    at.of.config.normalize = way.normalize;
    at.settings = way.settings;
    const SeparationTask task = at.task(song(way.count));
    const SeparationResult expected = separate(task);
    std::vector<std::vector<float>> stems;
    for (const std::string& path : task.paths) stems.push_back(all_of(path));
    at.settings.preview = true;
    const SeparationResult found = separate(task);
    EXPECT_EQ(found.unweighted, expected.unweighted);
    // What --tta does to a chunk is done in passes of their own.
    EXPECT_EQ(found.chunks, (way.settings.tta ? 5 : 3) * expected.chunks / 3);
    for (std::size_t s = 0; s < stems.size(); ++s) {
      const std::vector<float> stem = all_of(task.paths[s]);
      ASSERT_EQ(stem.size(), stems[s].size());
      float largest = 0;
      for (const float each : stems[s]) largest = std::max(largest, std::abs(each));
      // At most 8 passes, each with four roundings of 2^-24 of single results, which may be twice as large as their
      // mean.
      for (std::size_t i = 0; i < stem.size(); ++i) ASSERT_NEAR(stem[i], stems[s][i], 4e-6F * largest) << i;
    }
  }
}

TEST(Preview, ContinuesWithTheSameBitsAndNeverLeavesPartsOfFiles) {
  Setting at;
  at.settings = {.overlap = 2, .shifts = 2, .preview = true, .quality = true};
  Crooked network;
  const auto separate = [&](const SeparationTask& each) {
    return separate_file(each, at.settings, at.of.config, network);
  };
  const SeparationTask task = at.task(song(9000));
  const InterruptAt counting;
  const std::string quality = to_json(separate(task).quality);
  const int looks = counting.looks();
  std::vector<std::vector<float>> expected;
  for (const std::string& path : task.paths) expected.push_back(all_of(path));
  at.settings.resume = true;
  int with_preview = 0;
  for (int look = 2; look <= looks; ++look) {
    SCOPED_TRACE(look);
    std::filesystem::remove_all(at.folder.path() / "song");
    {
      const InterruptAt interrupted(look);
      EXPECT_THROW((void)separate(task), Error);
    }
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(at.folder.path() / "song"))
      names.push_back(each.path().filename().string());
    if (names.size() > 1) {
      ++with_preview;
      EXPECT_THAT(names, ::testing::UnorderedElementsAre("kick.wav", "snare.wav", "hh.wav", "separation.json",
                                                         "separation.part"));
      EXPECT_EQ(at.kick().size(), expected[0].size());
      EXPECT_EQ(read_json(task.record + ".json").find("identity"), nullptr);
    }
    EXPECT_EQ(to_json(separate(task).quality), quality);
    for (std::size_t i = 0; i < task.paths.size(); ++i) EXPECT_EQ(all_of(task.paths[i]), expected[i]) << task.paths[i];
  }
  // All but the first of three passes.
  EXPECT_GT(with_preview, looks / 2);
  EXPECT_TRUE(separate(task).was_complete);
}

}  // namespace
}  // namespace sonde::separate
