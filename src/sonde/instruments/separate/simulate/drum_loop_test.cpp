// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/simulate/drum_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/support/errors.h"

#include "sonde/engine/base/sha256.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/events/midi.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;

LoopSettings short_loop(std::uint64_t seed = 1) { return {.pattern = {.seed = seed, .seconds = 5}, .backing = true}; }

TEST(DrumLoop, StemsAddUpToTheMixture) {
  const DrumLoop loop = simulate_loop(short_loop());
  ASSERT_EQ(loop.stems.size(), 6u);
  for (std::size_t i = 0; i < loop.mixture.samples.size(); ++i) {
    float sum = 0;
    for (const LoopStem& each : loop.stems) sum += each.samples[i];
    ASSERT_EQ(loop.mixture.samples[i], sum);
  }
}

TEST(DrumLoop, IsTheSameBitsForEveryNumberOfThreads) {
  const DrumLoop several = simulate_loop(short_loop());
  const int threads = thread_count();
  set_thread_count(1);
  const DrumLoop one = simulate_loop(short_loop());
  set_thread_count(threads);
  for (std::size_t i = 0; i < one.stems.size(); ++i) EXPECT_EQ(one.stems[i].samples, several.stems[i].samples);
}

TEST(DrumLoop, IsTheSameBitsOnEveryMachine) {
  // Stored: only sums, products, roots and the bits of Random are used, which every processor rounds alike. What
  // changes a sound or the pattern changes this too.
  const DrumLoop loop = simulate_loop(short_loop());
  const std::string_view bytes(reinterpret_cast<const char*>(loop.mixture.samples.data()),
                               loop.mixture.samples.size() * sizeof(float));
  EXPECT_EQ(hexadecimal(sha256(bytes)), "d0ea41c6f57afce8d0285cbaafec5431f4085e54e6f84fb8f7eb9fe636536fca");
}

TEST(DrumLoop, OfAnotherSeedIsAnotherOne) {
  EXPECT_NE(simulate_loop(short_loop(1)).mixture.samples, simulate_loop(short_loop(2)).mixture.samples);
}

TEST(DrumLoop, IsSilentUntilTheFirstHitOfAStem) {
  const DrumLoop loop = simulate_loop(short_loop());
  for (std::size_t d = 0; d < drum_count; ++d) {
    double first_s = 5;
    for (const PlayedHit& each : loop.hits)
      if (info(each.hit).drum == static_cast<Drum>(d)) first_s = std::min(first_s, each.time_s);
    const View<const float, 2> stem = loop.stems[d].view();
    Index at = 0;
    while (at < stem.extent[1] && stem(0, at) == 0) ++at;
    EXPECT_NEAR(static_cast<double>(at) / 44100, first_s, 3e-5)
        << loop.stems[d].name;  // a sample, and a zero of a sine
  }
}

TEST(DrumLoop, IsPlayedByAHuman) {
  const std::vector<PlayedHit> hits = drum_pattern({.seconds = 20});
  Index early = 0, late = 0, drums[drum_count] = {};
  for (const PlayedHit& each : hits) {
    ++drums[static_cast<std::size_t>(info(each.hit).drum)];
    const double step = (each.time_s - 0.02) / 0.15, off = step - std::round(step);
    EXPECT_LT(std::abs(off), 0.2) << each.time_s;  // six standard deviations of 5 ms, of 150 ms
    ++(off < 0 ? early : late);
    EXPECT_GT(each.strength, 0);
    EXPECT_LE(each.strength, 1);
  }
  EXPECT_GT(early, 20);
  EXPECT_GT(late, 20);
  for (const Index count : drums) EXPECT_GT(count, 0);
}

TEST(DrumLoop, ALongerLoopBeginsLikeAShorterOne) {
  const std::vector<PlayedHit> shorter = drum_pattern({.seconds = 4}), longer = drum_pattern({.seconds = 9});
  for (std::size_t i = 0; i < shorter.size(); ++i) EXPECT_EQ(shorter[i].time_s, longer[i].time_s);
}

TEST(DrumLoop, HitsAreATableAndAMidiFile) {
  const std::vector<PlayedHit> hits = {{.time_s = 0.25, .hit = Hit::snare, .strength = 0.5},
                                       {.time_s = 0.5, .hit = Hit::ride, .strength = 1}};
  EXPECT_EQ(hits_csv(hits), "time_s,event,velocity,note\n0.250000,snare,64,38\n0.500000,ride,127,51\n");
  const MidiFile file = parse_midi(hits_midi(hits, 120), "hits.mid");
  ASSERT_EQ(file.notes.size(), 2u);
  EXPECT_EQ(file.notes[1].note, 51);
  EXPECT_NEAR(file.notes[0].time_s, 0.25, 1e-6);
}

TEST(DrumLoop, RefusesWhatIsNoLoop) {
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)simulate_loop({.pattern = {.seconds = 0.1}}); }),
            "error: seconds = 0.1; expected 0.5 to 3600");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)simulate_loop({.pattern = {.tempo = 500}}); }),
            "error: tempo = 500; expected 30 to 300");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)simulate_loop({.rate = 1000}); }),
            "error: rate = 1000; expected 8000 to 192000");
}

}  // namespace
}  // namespace sonde::separate
