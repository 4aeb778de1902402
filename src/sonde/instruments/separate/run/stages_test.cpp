// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/interrupts.h"

#include "sonde/instruments/separate/run/stem_source.h"
#include "sonde/instruments/separate/run/test_runs.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::InterruptAt;
using ::testing::ElementsAre;

/// A song, a network of three stems, and another one that separates the snare into two.
struct TwoNetworks {
  Setting first;
  Config config = case_a().config;
  std::unique_ptr<Network> network = std::make_unique<Uneven>();
  SeparationSettings settings{.overlap = 2};
  std::string stem = "Snare";
  std::vector<Index> computed{0, 0};  ///< how often each network was called for

  explicit TwoNetworks(Index rate = 44100) {
    config.instruments = {"low", "high"};
    config.sample_rate = settings.reading.rate = settings.writing.file.rate = rate;
  }

  [[nodiscard]] std::string file(const std::string& name) const { return first.folder.file(name); }

  /// What the second network makes of `input`.
  [[nodiscard]] SeparationTask task_of(const std::string& input, const std::string& folder) const {
    return {.input = file(input),
            .outputs = choose_outputs(config.stems()),
            .paths = {file(folder + "/low.wav"), file(folder + "/high.wav")},
            .record = file(folder + "/separation")};
  }

  std::vector<SeparationResult> separate(const SeparationTask& song) {
    SeparationTask task = task_of("song/snare.wav", "song/snare");
    const Output of = output_named(choose_outputs(first.of.config.stems()), stem, "");
    task.source = std::make_shared<const StemSource>(stem_of(song, of, first.settings, first.of.config));
    std::filesystem::create_directories(file("song/snare"));
    std::vector<SeparationResult> results(2);
    separate_in_stages(stage(0, first.of.config, first.settings, first.network), stage(1, config, settings, *network),
                       song, task, [&](std::size_t which, const SeparationResult& result) { results[which] = result; });
    return results;
  }

  /// The two separations by themselves, to and from a file of float32.
  void separate_with_a_file_between(SeparationTask song) {
    for (std::string& path : song.paths) path = file("apart/" + std::filesystem::path(path).filename().string());
    song.record = file("apart/separation");
    const auto writing = first.settings.writing;
    first.settings.writing.file.type = SampleType::f32;
    first.settings.writing.keep_rate = false;
    (void)first.separate(song);
    first.settings.writing = writing;
    (void)separate_file(task_of("apart/snare.wav", "apart/snare"), settings, config, *network);
  }

  void expect_same() const {
    for (const char* name : {"snare/low.wav", "snare/high.wav"}) {
      EXPECT_EQ(sonde::testing::read_bytes(file(std::string("song/") + name)),
                sonde::testing::read_bytes(file(std::string("apart/") + name)))
          << name;
    }
  }

  /// What is in the folder of the song, without that of the stem.
  [[nodiscard]] std::vector<std::string> files(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(file(folder))) {
      if (!each.is_directory()) names.push_back(each.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  Stage stage(std::size_t which, const Config& of, const SeparationSettings& with, Network& by) {
    return {of, with,
            [this, which, &of, &by](const SeparationTask& task, const SeparationSettings& how,
                                    const std::function<void(const SeparationResult&)>& finished) {
              ++computed[which];
              finished(separate_file(task, how, of, by));
            }};
  }
};

struct Way {
  std::string name;
  Index rate = 44100;
  SeparationSettings first{.overlap = 2}, second{.overlap = 2};
  bool normalize = false;
  Index count = 9000, song_rate = 44100;

  friend void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
};

class EveryWay : public ::testing::TestWithParam<Way> {};

TEST_P(EveryWay, TwoStagesGiveTheBitsOfAFileBetweenThem) {
  const Way& way = GetParam();
  TwoNetworks at(way.rate);
  at.first.settings = way.first;
  const auto reading = at.settings.reading;
  const auto writing = at.settings.writing;
  at.settings = way.second;
  at.settings.reading = reading, at.settings.writing = writing;
  at.config.normalize = way.normalize;
  const SeparationTask whole = at.first.task(song(way.count), {}, "song", way.song_rate);
  (void)at.separate(whole);
  at.separate_with_a_file_between(whole);
  at.expect_same();
}

INSTANTIATE_TEST_SUITE_P(
    Stages, EveryWay,
    ::testing::Values(Way{.name = "MoreThanIsReadAtOnce", .count = 70000}, Way{.name = "AnotherRate", .rate = 48000},
                      // 5512.5 samples at the rate of the first.
                      Way{.name = "ASongOfAnotherRate", .count = 6000, .song_rate = 48000},
                      Way{.name = "ShiftsOfTheFirst", .first = {.overlap = 1, .shifts = 3}},
                      Way{.name = "PreviewOfBoth",
                          .first = {.overlap = 2, .preview = true},
                          .second = {.overlap = 4, .preview = true}},
                      Way{.name = "Normalized", .normalize = true},
                      Way{.name = "FilesOfIntegers",
                          .first = {.writing = {.file = {.type = SampleType::pcm16}}, .overlap = 2}},
                      Way{.name = "FilesOfAnotherRate", .first = {.writing = {.keep_rate = true}, .overlap = 2}}),
    [](const auto& each) { return each.param.name; });

TEST(Stages, LeaveOnlyCompleteFiles) {
  TwoNetworks at;
  const auto results = at.separate(at.first.task(song(5000)));
  EXPECT_THAT(at.files("song"), ElementsAre("hh.wav", "kick.wav", "separation.json", "snare.wav"));
  EXPECT_THAT(at.files("song/snare"), ElementsAre("high.wav", "low.wav", "separation.json"));
  EXPECT_EQ(results[1].samples, 5000);
}

TEST(Stages, KeepTheRateOfTheSong) {
  TwoNetworks at;
  at.settings.writing.keep_rate = true;
  (void)at.separate(at.first.task(song(9001), {}, "song", 48000));
  const AudioReader low(at.file("song/snare/low.wav"), {.rate = 48000});
  EXPECT_EQ(low.info().rate, 48000);
  EXPECT_EQ(low.info().frames, 9001);
}

TEST(Stages, ResumeWithTheSameBitsWhereverTheyWereInterrupted) {
  TwoNetworks at;
  const SeparationTask whole = at.first.task(song(9000));
  at.separate_with_a_file_between(whole);
  InterruptAt counting;
  (void)at.separate(whole);
  const int looks = counting.looks();
  at.first.settings.resume = at.settings.resume = true;
  bool second_by_itself = false;
  for (int look = 3; look <= looks; ++look) {
    SCOPED_TRACE(look);
    std::filesystem::remove_all(at.file("song"));
    {
      const InterruptAt interrupted(look);
      EXPECT_THROW((void)at.separate(whole), Error);
    }
    EXPECT_TRUE(std::filesystem::exists(at.file("song/separation.part")));
    const bool first_is_complete = std::filesystem::exists(at.file("song/separation.json"));
    at.computed = {0, 0};
    const auto rest = at.separate(whole);
    EXPECT_THAT(at.computed, ElementsAre(first_is_complete ? 0 : 1, 1));
    EXPECT_EQ(rest[0].was_complete, first_is_complete);
    second_by_itself = second_by_itself || rest[1].resumed_at > 0;
    at.expect_same();
    EXPECT_FALSE(std::filesystem::exists(at.file("song/separation.part")));
    EXPECT_FALSE(std::filesystem::exists(at.file("song/snare/separation.part")));
  }
  EXPECT_TRUE(second_by_itself);
}

TEST(Stages, SkipWhatIsComplete) {
  TwoNetworks at;
  const SeparationTask whole = at.first.task(song(5000));
  (void)at.separate(whole);
  at.first.settings.resume = at.settings.resume = true;
  at.computed = {0, 0};
  EXPECT_TRUE(at.separate(whole)[1].was_complete);
  EXPECT_THAT(at.computed, ElementsAre(0, 0));
  std::filesystem::remove(at.file("song/kick.wav"));
  EXPECT_TRUE(at.separate(whole)[1].was_complete);
  EXPECT_THAT(at.computed, ElementsAre(1, 0));
  EXPECT_THAT(at.files("song"), ElementsAre("hh.wav", "kick.wav", "separation.json", "snare.wav"));
  // What the first network gave is no longer there.
  std::filesystem::remove(at.file("song/snare/low.wav"));
  EXPECT_FALSE(at.separate(whole)[1].was_complete);
  EXPECT_THAT(at.computed, ElementsAre(2, 1));
}

TEST(Stages, AnotherStemOrFirstNetworkIsNotContinued) {
  TwoNetworks at;
  const SeparationTask whole = at.first.task(song(5000));
  (void)at.separate(whole);
  at.first.settings.resume = at.settings.resume = true;
  at.stem = "kick";
  EXPECT_FALSE(at.separate(whole)[1].was_complete);
  EXPECT_TRUE(at.separate(whole)[1].was_complete);
  at.first.settings.origin = "another network\n";
  EXPECT_FALSE(at.separate(whole)[1].was_complete);
}

/// Its stems are no numbers.
class Broken final : public Network {
 public:
  void run(View<const float, 2> /*samples*/, View<float, 3> stems) override {
    std::fill_n(stems.data, stems.count(), NAN);
  }
  [[nodiscard]] std::vector<Time> times() const override { return {}; }
};

/// Ends as a disk that is full does.
class Failing final : public Network {
 public:
  void run(View<const float, 2> /*samples*/, View<float, 3> /*stems*/) override {
    throw Error(ErrorKind::io, "the disk is full");
  }
  [[nodiscard]] std::vector<Time> times() const override { return {}; }
};

TEST(Stages, AnErrorOfTheSecondLeavesTheFilesOfTheFirst) {
  TwoNetworks at;
  at.network = std::make_unique<Failing>();
  const SeparationTask whole = at.first.task(song(5000));
  EXPECT_THAT(error_of(ErrorKind::io, [&] { (void)at.separate(whole); }), ::testing::HasSubstr("the disk is full"));
  EXPECT_THAT(at.files("song"), ElementsAre("hh.wav", "kick.wav", "separation.json", "snare.wav"));
  EXPECT_TRUE(at.files("song/snare").empty());
}

TEST(Stages, NameTheStemWhoseSamplesAreNoNumbers) {
  TwoNetworks at;
  const SeparationTask whole = at.first.task(song(5000));
  SeparationTask task = at.task_of("song/snare.wav", "song/snare");
  task.source = std::make_shared<const StemSource>(
      stem_of(whole, choose_outputs(at.first.of.config.stems())[1], at.first.settings, at.first.of.config));
  Broken broken;
  const auto by = [](Network& network, const Config& config) {
    return [&](const SeparationTask& each, const SeparationSettings& how,
               const std::function<void(const SeparationResult&)>& finished) {
      finished(separate_file(each, how, config, network));
    };
  };
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         separate_in_stages({at.first.of.config, at.first.settings, by(broken, at.first.of.config)},
                                            {at.config, at.settings, by(*at.network, at.config)}, whole, task,
                                            [](std::size_t, const SeparationResult&) {});
                       }),
              ::testing::HasSubstr("song/snare.wav: channel 1 is nan at 0.000000 s"));
  EXPECT_FALSE(std::filesystem::exists(at.file("song/separation.part")));
}

}  // namespace
}  // namespace sonde::separate
