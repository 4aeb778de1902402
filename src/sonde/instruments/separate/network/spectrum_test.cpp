// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/spectrum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/errors.h"

#include "sonde/instruments/separate/network/test_cases.h"

namespace sonde::separate {
namespace {

template <class Real>
std::vector<Real> wave(Index count) {
  std::vector<Real> samples(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto t = static_cast<double>(i);
    samples[i] = static_cast<Real>(std::sin(0.05 * t) + 0.3 * std::cos(1.3 * t + 0.001 * t * t));
  }
  return samples;
}

TEST(Spectrum, IsTheDefinition) {
  const Config config = case_c().config;
  const auto samples = wave<double>(2 * config.chunk);
  std::vector<double> values(static_cast<std::size_t>(config.input_channels() * config.frames() * config.band()));
  const View<double, 3> x(values.data(), config.input_channels(), config.frames(), config.band());
  Stream stream(Device::cpu());
  Spectrum<double>::prepare(config).forward(stream, {samples.data(), 2, config.chunk}, x);

  const auto at = [&](Index channel, Index i) {
    i = std::abs(i);
    if (i >= config.chunk) i = 2 * (config.chunk - 1) - i;
    return samples[static_cast<std::size_t>(channel * config.chunk + i)];
  };
  for (const auto [channel, f, t] : {std::array<Index, 3>{0, 0, 0}, {0, 5, 0}, {1, 47, 11}, {0, 48, 7}, {1, 95, 23}}) {
    std::complex<double> sum = 0;
    for (Index n = 0; n < config.n_fft; ++n) {
      const double turn = 2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(config.n_fft);
      sum += 0.5 * (1 - std::cos(turn)) * at(channel, t * config.hop + n - config.n_fft / 2) *
             std::polar(1.0, -turn * static_cast<double>(f));
    }
    const Index s = f / config.band(), row = 2 * channel * config.subbands + s;
    EXPECT_NEAR(x(row, t, f % config.band()), sum.real(), 1e-10);  // rounding of 384 terms below 1
    EXPECT_NEAR(x(row + config.subbands, t, f % config.band()), sum.imag(), 1e-10);
  }
}

TEST(Spectrum, ComesBackWhenNoFrequencyIsDropped) {
  Config config = case_d().config;
  config.dim_f = config.n_fft / 2 + 1, config.subbands = 1;
  const auto samples = wave<float>(2 * config.chunk);
  std::vector<float> values(static_cast<std::size_t>(config.input_channels() * config.frames() * config.band()));
  std::vector<float> back(samples.size());
  const View<float, 3> x(values.data(), config.input_channels(), config.frames(), config.band());
  Stream stream(Device::cpu());
  auto spectrum = Spectrum<float>::prepare(config);
  spectrum.forward(stream, {samples.data(), 2, config.chunk}, x);
  spectrum.inverse(stream, x, {back.data(), 2, config.chunk});
  double error = 0, size = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    error += std::pow(static_cast<double>(back[i]) - static_cast<double>(samples[i]), 2);
    size += std::pow(static_cast<double>(samples[i]), 2);
  }
  EXPECT_LT(std::sqrt(error / size), 1e-6);  // eps sqrt(log2 512) and two windows
}

TEST(Spectrum, RefusesWindowsThatLeaveASampleUncovered) {
  Config config = case_a().config;
  config.hop = 512, config.chunk = 512 * 8;
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)Spectrum<float>::prepare(config); }),
            "error: audio.hop_length = 512: no window of audio.n_fft = 512 covers sample 256 of a chunk; expected a "
            "smaller hop");
}

}  // namespace
}  // namespace sonde::separate
