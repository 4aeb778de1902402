// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "tests/support/errors.h"
#include "tests/support/interrupts.h"

#include "sonde/instruments/separate/events/drums.h"

namespace sonde::separate {
namespace {

using ::testing::ElementsAre;

constexpr Index kit_rate = 44100;

double noise(std::uint32_t& seed) {
  seed = seed * 1664525U + 1013904223U;
  return static_cast<double>(seed >> 8) / 8388608.0 - 1;
}

/// A hit: `sound` of the seconds since `at`, falling by 60 dB within `t60_s`.
struct Blow {
  double at = 0, size = 0.5, t60_s = 0.2;
  std::function<double(double)> sound{};
};

std::vector<float> played(const std::vector<Blow>& blows, double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * kit_rate), 0.0F);
  std::uint32_t seed = 3;
  for (const Blow& each : blows) {
    const auto begin = static_cast<std::size_t>(std::lround(each.at * kit_rate));
    for (std::size_t i = begin; i < samples.size(); ++i) {
      const double t = static_cast<double>(i - begin) / kit_rate;
      const double sound = each.sound ? each.sound(t) : noise(seed);
      samples[i] += static_cast<float>(each.size * sound * std::pow(10.0, -3 * t / each.t60_s));
    }
  }
  return samples;
}

auto tone(double hertz) {
  return [hertz](double t) { return std::sin(2 * std::numbers::pi * hertz * t); };
}

std::vector<DrumEvent> events_of(Drum drum, const std::vector<float>& samples, const EventSettings& settings = {}) {
  return find_events({drum}, {samples.data(), 1, static_cast<Index>(samples.size())}, kit_rate, settings);
}

std::vector<Hit> hits_of(const std::vector<DrumEvent>& events) {
  std::vector<Hit> hits;
  for (const DrumEvent& each : events) hits.push_back(each.hit);
  return hits;
}

std::vector<Index> velocities_of(const std::vector<DrumEvent>& events) {
  std::vector<Index> velocities;
  for (const DrumEvent& each : events) velocities.push_back(each.velocity);
  return velocities;
}

TEST(StemKind, IsReadFromTheNamesThatProgramsGive) {
  for (const char* name : {"kick", "Kick", "BD", "song_(Kick)_model", "bass drum", "Kick_Drum"})
    EXPECT_EQ(stem_kind(name).value().drum, Drum::kick) << name;
  for (const char* name : {"hh", "Hi-Hat", "hihat", "HiHat", "hi_hat", "song (hh)"})
    EXPECT_EQ(stem_kind(name).value().drum, Drum::hihat) << name;
  EXPECT_EQ(stem_kind("snare").value().drum, Drum::snare);
  EXPECT_EQ(stem_kind("SD").value().drum, Drum::snare);
  EXPECT_EQ(stem_kind("toms").value().drum, Drum::toms);
  EXPECT_EQ(stem_kind("cymbals").value().drum, Drum::cymbals);
  EXPECT_FALSE(stem_kind("cymbals").value().hit);
  EXPECT_EQ(stem_kind("Crash").value().hit, Hit::crash);
  EXPECT_EQ(stem_kind("Ride").value().hit, Hit::ride);
}

TEST(StemKind, IsNotGuessed) {
  for (const char* name : {"other", "bass", "vocals", "kick and snare", "kickstart", "mixture", ""})
    EXPECT_FALSE(stem_kind(name)) << name;
}

TEST(Drums, ReferencesOfElectronicKitsAreKnown) {
  EXPECT_EQ(drum_of_note(22), Drum::hihat);  // the rim of a closed hi-hat in the Groove MIDI data
  EXPECT_EQ(drum_of_note(58), Drum::toms);
  EXPECT_FALSE(drum_of_note(60));
  for (std::size_t i = 0; i < hit_count; ++i) {
    const HitInfo& hit = info(static_cast<Hit>(i));
    EXPECT_EQ(drum_of_note(hit.note), hit.drum) << hit.name;
    EXPECT_EQ(hit_called(hit.name), static_cast<Hit>(i));
  }
}

TEST(Velocity, FollowsTheLevelInDecibels) {
  // Levels from -20 to 0 dB of the largest in even steps: 5 % and 95 % are -19 and -1 dB.
  std::vector<Blow> blows;
  for (int i = 0; i <= 10; ++i)
    blows.push_back({.at = 0.1 + 0.3 * i, .size = 0.9 * std::pow(10.0, -0.1 * i), .t60_s = 0.1, .sound = tone(70)});
  EventSettings settings;
  settings[Drum::kick].gate = 0;
  settings[Drum::kick].onsets.threshold = 0.02;
  const auto events = events_of(Drum::kick, played(blows, 4), settings);
  ASSERT_EQ(events.size(), 11u);
  for (int i = 0; i <= 10; ++i) {
    const double level = std::clamp((-2.0 * i + 19) / 18, 0.0, 1.0);
    EXPECT_NEAR(static_cast<double>(events[static_cast<std::size_t>(i)].velocity), 20 + 100 * level, 1)
        << i;  // rounding
    EXPECT_NEAR(events[static_cast<std::size_t>(i)].level_db - events[0].level_db, -2 * i, 0.05) << i;
  }
}

TEST(Velocity, OfEqualHitsIsEqual) {
  std::vector<Blow> blows;
  for (int i = 0; i < 8; ++i) blows.push_back({.at = 0.1 + 0.3 * i, .size = 0.5 + 0.001 * (i % 2), .sound = tone(70)});
  for (const Index each : velocities_of(events_of(Drum::kick, played(blows, 3))))
    EXPECT_NEAR(static_cast<double>(each), 120, 2);
}

TEST(Pan, IsTheDifferenceOfTheSides) {
  const std::vector<float> left = played({{.at = 0.2, .size = 0.3}}, 1);
  std::vector<float> both = left;
  for (const float each : left) both.push_back(2 * each);
  const auto events = find_events({Drum::snare}, {both.data(), 2, kit_rate}, kit_rate, {});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NEAR(events[0].pan, 1.0 / 3, 1e-6);
}

TEST(Gate, DropsWhatHasNotTheBandsOfTheDrum) {
  // A snare has 200 Hz and noise; a kick that came through has no noise.
  const auto snare = [](double t) {
    return 0.5 * std::sin(2 * std::numbers::pi * 200 * t) + 0.3 * std::sin(2e4 * t * (1 + t));
  };
  const auto samples = played(
      {{.at = 0.2, .sound = snare}, {.at = 0.7, .size = 0.3, .sound = tone(60)}, {.at = 1.2, .sound = snare}}, 2);
  EventSettings settings;
  EXPECT_EQ(events_of(Drum::snare, samples, settings).size(), 2u);
  settings[Drum::snare].gate = 0;
  EXPECT_EQ(events_of(Drum::snare, samples, settings).size(), 3u);
}

TEST(Sustain, IsAThirdOfTheReverberationTime) {
  // From the peak 20 dB down: T60 / 3. Pieces of 5 ms, smoothed over three: 10 ms.
  for (const double t60_s : {0.15, 0.3, 0.9, 1.8}) {
    const auto events = events_of(Drum::kick, played({{.at = 0.2, .t60_s = t60_s, .sound = tone(200)}}, 2));
    ASSERT_EQ(events.size(), 1u);
    EXPECT_NEAR(events[0].sustain_s, t60_s / 3, 0.011) << t60_s;
  }
}

TEST(HiHat, IsOpenWhenItSustains) {
  const auto samples = played({{.at = 0.2, .t60_s = 0.1}, {.at = 0.6, .t60_s = 0.9}, {.at = 1.4, .t60_s = 0.15}}, 2);
  EXPECT_THAT(hits_of(events_of(Drum::hihat, samples)),
              ElementsAre(Hit::hihat_closed, Hit::hihat_open, Hit::hihat_closed));
}

TEST(HiHat, APedalEndsAnOpenOneIfAsked) {
  const auto samples = played({{.at = 0.2, .t60_s = 0.6}, {.at = 1.0, .t60_s = 0.1}}, 2);
  EventSettings settings;
  settings.pedal = true;
  const auto events = events_of(Drum::hihat, samples, settings);
  ASSERT_THAT(hits_of(events), ElementsAre(Hit::hihat_open, Hit::hihat_pedal, Hit::hihat_closed));
  EXPECT_NEAR(events[1].time_s, 0.4, 0.03);
}

TEST(Cymbals, AreACrashWhenTheySustainAndAreBright) {
  const auto samples = played({{.at = 0.2, .t60_s = 3}, {.at = 2, .t60_s = 0.4}}, 3);
  EXPECT_THAT(hits_of(events_of(Drum::cymbals, samples)), ElementsAre(Hit::crash, Hit::ride));
}

TEST(Cymbals, AStemOfOneKindHasOnlyThat) {
  const auto samples = played({{.at = 0.2, .t60_s = 3}, {.at = 2, .t60_s = 0.4}}, 3);
  const auto events = find_events({Drum::cymbals, Hit::ride}, {samples.data(), 1, 3 * kit_rate}, kit_rate, {});
  EXPECT_THAT(hits_of(events), ElementsAre(Hit::ride, Hit::ride));
}

TEST(Sharpness, DropsASwellOfWhatSounds) {
  // A crash that gets louder by itself for a while, as cymbals do when they are choked and let go.
  auto samples = played({{.at = 0.2, .t60_s = 6}}, 3);
  for (std::size_t i = kit_rate; i < samples.size(); ++i) {
    const double t = static_cast<double>(i - kit_rate) / kit_rate;
    samples[i] *= static_cast<float>(1 + 9 * (1 - std::exp(-t / 0.1)) * std::exp(-t));
  }
  EventSettings settings;
  settings[Drum::cymbals].onsets.prominence_db = 6;
  EXPECT_EQ(events_of(Drum::cymbals, samples, settings).size(), 1u);
}

TEST(Toms, AreSortedByTheirPitch) {
  std::vector<Blow> blows;
  const std::vector<double> hertz = {80, 130, 200, 82, 128, 205, 79, 133, 198};
  for (std::size_t i = 0; i < hertz.size(); ++i) {
    const double at = 0.1 + 0.5 * static_cast<double>(i);
    blows.push_back({.at = at, .t60_s = 0.6, .sound = tone(hertz[i])});
    blows.push_back({.at = at, .size = 0.2, .t60_s = 0.1, .sound = tone(1.8 * hertz[i])});  // of the head, short
  }
  const auto found = hits_of(events_of(Drum::toms, played(blows, 5)));
  ASSERT_EQ(found.size(), 9u);
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_EQ(found[i], i % 3 == 0 ? Hit::tom_low : i % 3 == 1 ? Hit::tom_mid : Hit::tom_high) << i;
}

TEST(Toms, TwoOfThemAreLowAndHigh) { EXPECT_THAT(classes_of({100, 180, 101, 178, 99}), ElementsAre(0, 1, 0, 1, 0)); }

TEST(Toms, OneOfThemIsNotSplit) {
  EXPECT_THAT(classes_of({100, 101, 102, 99, 100, 103}), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(classes_of({100}), ElementsAre(0));
  EXPECT_TRUE(classes_of({}).empty());
}

TEST(Fundamental, IsThatOfATone) {
  for (const double hertz : {62.0, 98.7, 145.3, 240.0}) {
    std::vector<float> samples;
    for (int i = 0; i < kit_rate / 10; ++i)
      samples.push_back(static_cast<float>(std::sin(2 * std::numbers::pi * hertz * i / kit_rate) +
                                           0.5 * std::sin(4 * std::numbers::pi * hertz * i / kit_rate + 1)));
    // The window is no whole number of periods, which moves the maximum by less than a hundredth.
    EXPECT_NEAR(fundamental_hz({samples.data(), kit_rate / 10}, kit_rate, 60, 250), hertz, 0.01 * hertz);
  }
}

TEST(Fundamental, OfSilenceOrTooFewSamplesIsNone) {
  const std::vector<float> silence(kit_rate / 10, 0.0F);
  EXPECT_EQ(fundamental_hz({silence.data(), kit_rate / 10}, kit_rate, 60, 250), 0);
  EXPECT_EQ(fundamental_hz({silence.data(), 1000}, kit_rate, 60, 250), 0);
}

TEST(Drums, NothingIsFoundInSilence) {
  const std::vector<float> silence(kit_rate, 0.0F);
  for (std::size_t i = 0; i < drum_count; ++i) EXPECT_TRUE(events_of(static_cast<Drum>(i), silence).empty()) << i;
}

TEST(Drums, TheSearchOfALongStemCanBeInterrupted) {
  const std::vector<float> samples = played({{.at = 0.5}, {.at = 1.5}, {.at = 2.5}}, 4);
  for (const Drum drum : {Drum::kick, Drum::toms}) {  // by flux and by level
    SCOPED_TRACE(name(drum));
    const sonde::testing::InterruptAt tenth(10);
    EXPECT_EQ(sonde::testing::error_of(ErrorKind::interrupted, [&] { events_of(drum, samples); }),
              "error: interrupted; outputs that were not complete are removed");
    EXPECT_EQ(tenth.looks(), 10);  // none between it and the end
  }
}

TEST(Percentile, IsLinearBetweenValues) {
  EXPECT_DOUBLE_EQ(percentile({3, 1, 2}, 0.25), 1.5);
  EXPECT_DOUBLE_EQ(percentile({5}, 0.95), 5);
  EXPECT_DOUBLE_EQ(percentile({}, 0.5), 0);
}

}  // namespace
}  // namespace sonde::separate
