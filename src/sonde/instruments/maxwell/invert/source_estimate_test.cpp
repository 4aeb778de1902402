// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/source_estimate.h"

#include <gtest/gtest.h>

#include "sonde/instruments/maxwell/invert/test_invert.h"

namespace sonde::maxwell {
namespace {

constexpr Index record_steps = 300;

/// Ricker wavelet at `first` samples, 20 samples long, of unit size.
std::vector<double> wavelet_at(double first, double size = 1) {
  return testing::pulses(record_steps, 1, first, 20, size).samples;
}

/// The records of a linear medium: each receiver sees the source late, weaker, and twice.
Gather recorded(const std::vector<double>& source) {
  Gather gather(record_steps, 4);
  for (Index r = 0; r < 4; ++r)
    for (Index n = 0; n < record_steps; ++n)
      for (const auto& [late, weaker] : {std::pair<Index, double>{40 + 13 * r, 1.0}, {71 + 5 * r, -0.4}})
        if (n >= late)
          gather.traces()(r, n) += weaker / static_cast<double>(r + 1) * source[static_cast<std::size_t>(n - late)];
  return gather;
}

std::vector<double> corrected(const std::vector<double>& source, const Gather& measured, double damping) {
  SourceEstimate estimate(record_steps);
  estimate.add(recorded(source), measured, {});
  std::vector<double> repaired = source;
  const View<double, 2> row(repaired.data(), 1, record_steps);
  estimate.correction(damping).apply(row, row);
  return repaired;
}

TEST(SourceEstimate, RepairsAWaveletThatIsLateAndTooWeak) {
  // 1 ns at 0.1 ns per sample: 10 samples.
  const auto wanted = wavelet_at(40, 1.7), wrong = wavelet_at(50);
  const auto repaired = corrected(wrong, recorded(wanted), 1e-6);
  double error = 0;
  for (std::size_t n = 0; n < wanted.size(); ++n) error += std::pow(repaired[n] - wanted[n], 2);
  // The damping keeps 1e-6 of the largest power: what has less of it is below 1e-3 of the amplitude.
  EXPECT_LT(std::sqrt(error), 2e-3 * testing::norm(wanted));
}

TEST(SourceEstimate, KeepsASourceThatExplainsTheRecords) {
  const auto source = wavelet_at(45);
  const auto same = corrected(source, recorded(source), 1e-3);
  for (std::size_t n = 0; n < source.size(); ++n) EXPECT_NEAR(same[n], source[n], 1e-12);
}

TEST(SourceEstimate, KeepsFrequenciesWithoutEnergy) {
  Gather nothing(record_steps, 2);
  SourceEstimate estimate(record_steps);
  estimate.add(nothing, nothing, {});
  auto source = wavelet_at(45);
  const auto before = source;
  const View<double, 2> row(source.data(), 1, record_steps);
  estimate.correction(1e-3).apply(row, row);
  for (std::size_t n = 0; n < source.size(); ++n) EXPECT_NEAR(source[n], before[n], 1e-12);
}

TEST(SourceEstimate, DoesNotSeeMutedSamples) {
  const auto wanted = wavelet_at(40), wrong = wavelet_at(46);
  Gather measured = recorded(wanted);
  std::vector<double> weights(measured.samples.size(), 1.0);
  for (Index n = 0; n < record_steps; ++n) {
    measured.traces()(2, n) = 50 * std::sin(0.3 * static_cast<double>(n));
    weights[static_cast<std::size_t>(2 * record_steps + n)] = 0;
  }
  SourceEstimate with(record_steps);
  with.add(recorded(wrong), measured, weights);
  auto repaired = wrong;
  const View<double, 2> row(repaired.data(), 1, record_steps);
  with.correction(1e-6).apply(row, row);
  double error = 0;
  for (std::size_t n = 0; n < wanted.size(); ++n) error += std::pow(repaired[n] - wanted[n], 2);
  EXPECT_LT(std::sqrt(error), 2e-3 * testing::norm(wanted));  // as above
}

}  // namespace
}  // namespace sonde::maxwell
