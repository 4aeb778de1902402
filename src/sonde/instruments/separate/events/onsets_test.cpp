// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sonde/instruments/separate/events/onsets.h"

namespace sonde::separate {
namespace {

constexpr Index rate = 44100;

/// Bursts of noise that fall by 60 dB within 150 ms.
std::vector<float> bursts(const std::vector<double>& times, double seconds, const std::vector<double>& sizes = {}) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * rate), 0.0F);
  std::uint32_t seed = 1;
  for (std::size_t k = 0; k < times.size(); ++k) {
    const auto begin = static_cast<std::size_t>(std::lround(times[k] * rate));
    for (std::size_t i = begin; i < samples.size(); ++i) {
      seed = seed * 1664525U + 1013904223U;
      const double noise = static_cast<double>(seed >> 8) / 8388608.0 - 1;
      const double size = sizes.empty() ? 0.5 : sizes[k];
      samples[i] += static_cast<float>(size * noise * std::exp(-6.9 * static_cast<double>(i - begin) / (0.15 * rate)));
    }
  }
  return samples;
}

std::vector<Onset> onsets_of(const std::vector<float>& samples, const OnsetSettings& settings, Index channels = 1) {
  return find_onsets({samples.data(), channels, static_cast<Index>(samples.size()) / channels}, rate, settings);
}

class OnsetsBy : public ::testing::TestWithParam<Detection> {
 protected:
  OnsetSettings settings{.detection = GetParam()};
};

TEST_P(OnsetsBy, ClicksAreFoundWithinAMillisecond) {
  const std::vector<double> times = {0.0, 0.3, 0.4123, 1.0001, 1.07};
  std::vector<float> samples(rate * 3 / 2, 0.0F);
  for (const double time : times) samples[static_cast<std::size_t>(std::lround(time * rate))] = 0.8F;
  const auto found = onsets_of(samples, settings);
  ASSERT_EQ(found.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(static_cast<double>(found[i].sample) / rate, times[i], 0.001) << i;
}

TEST_P(OnsetsBy, BurstsOfNoiseAreFoundWithinTwoMilliseconds) {
  const std::vector<double> times = {0.1, 0.35, 0.5, 0.9};
  const auto found = onsets_of(bursts(times, 1.5, {0.5, 0.2, 0.9, 0.3}), settings);
  ASSERT_EQ(found.size(), times.size());
  // The largest magnitude of 1 ms of noise needs about one more to be what it is on average.
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(static_cast<double>(found[i].sample) / rate, times[i], 0.002) << i;
}

TEST_P(OnsetsBy, NothingIsFoundInSilenceAndOneRiseInASlowSwell) {
  EXPECT_THAT(onsets_of(std::vector<float>(rate, 0.0F), settings), ::testing::IsEmpty());
  std::vector<float> tone;
  for (int i = 0; i < rate; ++i) {
    const double t = static_cast<double>(i) / rate;  // rises and falls within half a second: no attack
    tone.push_back(static_cast<float>(std::pow(std::sin(3.141592653589793 * t), 2) * std::sin(2764.6 * t)));
  }
  EXPECT_LE(onsets_of(tone, settings).size(), 1u);  // a stem with nothing else: its only rise, however slow
}

TEST_P(OnsetsBy, LevelsDoNotMatter) {
  const std::vector<float> loud = bursts({0.1, 0.35, 0.5}, 1);
  std::vector<float> soft = loud;
  for (float& each : soft) each *= 0.001F;
  const auto a = onsets_of(loud, settings), b = onsets_of(soft, settings);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].sample, b[i].sample);
    EXPECT_NEAR(a[i].strength, b[i].strength, 1e-4);  // rounding in float32
  }
}

TEST_P(OnsetsBy, BothChannelsTogetherAreOneAtTheEarlierTime) {
  std::vector<float> samples = bursts({0.2, 0.6}, 1);
  const std::vector<float> right = bursts({0.21, 0.61, 0.85}, 1);
  samples.insert(samples.end(), right.begin(), right.end());
  const auto found = onsets_of(samples, settings, 2);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NEAR(static_cast<double>(found[0].sample) / rate, 0.2, 0.002);
  EXPECT_NEAR(static_cast<double>(found[2].sample) / rate, 0.85, 0.002);  // only on the right
}

TEST_P(OnsetsBy, OfTwoWithinTheGapTheLaterIsDropped) {
  settings.gap_ms = 200;
  const auto found = onsets_of(bursts({0.2, 0.35, 0.6}, 1), settings);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(static_cast<double>(found[1].sample) / rate, 0.6, 0.002);
}

INSTANTIATE_TEST_SUITE_P(Detection, OnsetsBy, ::testing::Values(Detection::flux, Detection::energy, Detection::peak),
                         [](const auto& each) {
                           return each.param == Detection::flux   ? "Flux"
                                  : each.param == Detection::peak ? "Peak"
                                                                  : "Energy";
                         });

TEST(Onsets, ThresholdAndProminenceChooseWhatCounts) {
  const std::vector<float> samples = bursts({0.2, 0.6}, 1, {0.9, 0.01});  // the second is 39 dB softer
  EXPECT_EQ(onsets_of(samples, {.detection = Detection::flux, .threshold = 0.02}).size(), 2u);
  EXPECT_EQ(onsets_of(samples, {.detection = Detection::flux, .threshold = 0.5}).size(), 1u);
  EXPECT_EQ(onsets_of(samples, {.detection = Detection::energy, .prominence_db = 12, .floor_db = -80}).size(), 2u);
  EXPECT_EQ(onsets_of(samples, {.detection = Detection::energy, .prominence_db = 12, .floor_db = -35}).size(), 1u);
  EXPECT_EQ(onsets_of(samples, {.detection = Detection::energy, .prominence_db = 60, .floor_db = -80}).size(), 1u);
}

TEST(Onsets, NoSamplesHaveNone) { EXPECT_TRUE(onsets_of({}, {}).empty()); }

TEST(Prominences, AreThoseOfAMapOfMountains) {
  // From 5 both ways lead out, one over 0. From 3 the way to 5 leads down to 1, from 4 to 2. Places that are no tops
  // have 0.
  const auto found = prominences({1, 3, 1, 5, 2, 4, -1}, 0);
  EXPECT_THAT(found, ::testing::ElementsAre(0, 2, 0, 5, 0, 2, 0));
}

TEST(Prominences, AgreeWithAWalkToTheNextHigherElement) {
  std::vector<double> heights;
  std::uint32_t seed = 7;
  for (int i = 0; i < 300; ++i) {
    seed = seed * 1664525U + 1013904223U;
    heights.push_back(static_cast<double>(seed >> 27));  // of 32 heights: many are equal
  }
  const auto found = prominences(heights, -1);
  for (Index i = 0; i < 300; ++i) {
    const auto lowest = [&](Index step) {
      double valley = heights[static_cast<std::size_t>(i)];
      for (Index k = i + step; k >= 0 && k < 300; k += step) {
        const double height = heights[static_cast<std::size_t>(k)];
        if (height > heights[static_cast<std::size_t>(i)]) return valley;
        valley = std::min(valley, height);
      }
      return std::min(valley, -1.0);
    };
    EXPECT_EQ(found[static_cast<std::size_t>(i)],
              heights[static_cast<std::size_t>(i)] - std::max(lowest(-1), lowest(1)))
        << i;
  }
}

}  // namespace
}  // namespace sonde::separate
