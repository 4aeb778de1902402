// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/data.h"

#include "sonde/instruments/separate/events/matching.h"
#include "sonde/instruments/separate/events/tempo.h"

namespace sonde::separate {
namespace {

/// Eighths of `bars` bars, the beats of which are louder; `late_s` is the largest deviation of an event.
std::vector<double> eighths(double per_minute, int bars, double begin_s, double late_s, std::vector<double>& weights) {
  std::vector<double> times;
  for (int i = 0; i < 8 * bars; ++i) {
    times.push_back(begin_s + i * 30 / per_minute + late_s * std::sin(7.0 * i));
    weights.push_back(i % 2 == 0 ? 1 : 0.4);
  }
  return times;
}

TEST(Tempo, IsThatOfEvenBeats) {
  for (const double per_minute : {80.0, 96.0, 120.0, 138.0, 161.8}) {
    std::vector<double> weights;
    const auto times = eighths(per_minute, 8, 0.3, 0.008, weights);
    const auto tempo = find_tempo(times, weights);
    ASSERT_TRUE(tempo);
    // Events are 8 ms off at most, over 16 s or more.
    EXPECT_NEAR(tempo->per_minute, per_minute, 0.003 * per_minute);
  }
}

TEST(Tempo, BeatsAreWhereTheLoudEventsAre) {
  std::vector<double> weights;
  const auto times = eighths(110, 8, 0.7, 0, weights);
  const auto tempo = find_tempo(times, weights);
  ASSERT_TRUE(tempo);
  for (const double beat : tempo->beats_s) {
    const double beats = (beat - 0.7) * 110 / 60;
    EXPECT_NEAR(beats, std::round(beats), 0.02) << beat;  // steps of 5 ms are 0.01 of a beat
  }
  EXPECT_NEAR(static_cast<double>(tempo->beats_s.size()), 32, 1);
}

TEST(Tempo, AMissingBarDoesNotMatter) {
  std::vector<double> weights, times = eighths(100, 12, 0, 0, weights);
  times.erase(times.begin() + 40, times.begin() + 48);
  weights.erase(weights.begin() + 40, weights.begin() + 48);
  EXPECT_NEAR(find_tempo(times, weights).value().per_minute, 100, 0.5);
}

TEST(Tempo, OfFewEventsIsUnknown) {
  EXPECT_FALSE(find_tempo({}, {}));
  EXPECT_FALSE(find_tempo({0.5, 1.0, 1.5}, {1, 1, 1}));
  EXPECT_FALSE(find_tempo({0, 10, 20, 30, 40, 50, 60, 70}, {1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(Tempo, OfThePublishedPerformanceIsFound) {
  SONDE_NEED_DATA(data);
  for (const char* file : {"separation/midi/groove_funk_138bpm.mid", "separation/demo/groove/events.csv"}) {
    std::vector<double> times, weights;
    for (const ReferenceEvent& each : read_reference((data / file).string())) {
      times.push_back(each.time_s), weights.push_back(each.velocity);
    }
    EXPECT_NEAR(find_tempo(times, weights).value().per_minute, 138, 1.38) << file;
  }
}

}  // namespace
}  // namespace sonde::separate
