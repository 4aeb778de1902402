// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/simulate/drum_sounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/fft1d.h"
#include "sonde/instruments/separate/simulate/exact.h"

namespace sonde::separate {
namespace {

/// The part of the energy between two frequencies.
double part_between(const std::vector<double>& sound, double low_hz, double high_hz) {
  constexpr Index length = 131072;
  std::vector<double> padded(length);
  std::copy(sound.begin(), sound.end(), padded.begin());
  std::vector<std::complex<double>> spectrum(length / 2 + 1);
  Stream stream(Device::cpu());
  RealFft1d<double>::prepare({.length = length})
      .forward(stream, {padded.data(), 1, length}, {spectrum.data(), 1, length / 2 + 1});
  double all = 0, part = 0;
  for (std::size_t k = 0; k < spectrum.size(); ++k) {
    const double hz = 44100.0 * static_cast<double>(k) / length, power = std::norm(spectrum[k]);
    all += power;
    if (hz >= low_hz && hz < high_hz) part += power;
  }
  return part / all;
}

std::vector<double> sound_of(Hit hit, double strength = 0.9) { return drum_sound(hit, strength, Random(1, 2), 44100); }

double energy_of(const std::vector<double>& sound) {
  double sum = 0;
  for (const double x : sound) sum += x * x;
  return sum;
}

TEST(Exact, SineAndExponentialAreThoseOfTheLibrary) {
  for (double turns = -2; turns < 2; turns += 0.01)
    EXPECT_NEAR(exact::sine(turns), std::sin(2 * std::numbers::pi * turns), 1e-9);
  for (double x = -4; x <= 0; x += 0.037) EXPECT_NEAR(exact::exponential(x) / std::exp(x), 1, 1e-12);
}

TEST(DrumSound, DrumsAreInTheirBands) {
  EXPECT_GT(part_between(sound_of(Hit::kick), 30, 200), 0.9);
  EXPECT_GT(part_between(sound_of(Hit::tom_low), 60, 200), 0.8);
  EXPECT_GT(part_between(sound_of(Hit::snare), 150, 350), 0.1);
  EXPECT_GT(part_between(sound_of(Hit::snare), 2000, 20000), 0.2);
  EXPECT_GT(part_between(sound_of(Hit::hihat_closed), 6000, 22050), 0.95);
  EXPECT_GT(part_between(sound_of(Hit::crash), 1000, 22050), 0.9);
}

TEST(DrumSound, EveryDrumStartsAtOnceAndFades) {
  for (std::size_t i = 0; i < hit_count; ++i) {
    SCOPED_TRACE(info(static_cast<Hit>(i)).name);
    const std::vector<double> sound = sound_of(static_cast<Hit>(i));
    const double first = energy_of({sound.begin(), sound.begin() + static_cast<Index>(sound.size() / 4)});
    EXPECT_GT(first, 0.6 * energy_of(sound));
    EXPECT_LT(std::abs(sound.back()), 1e-4);
    for (const double x : sound) ASSERT_LT(std::abs(x), 1);
  }
}

TEST(DrumSound, AnOpenHiHatSustainsAndHarderHitsAreLouder) {
  EXPECT_GT(sound_of(Hit::hihat_open).size(), 4 * sound_of(Hit::hihat_closed).size());
  EXPECT_GT(energy_of(sound_of(Hit::snare, 0.9)), 4 * energy_of(sound_of(Hit::snare, 0.3)));
}

}  // namespace
}  // namespace sonde::separate
