// SPDX-License-Identifier: Apache-2.0
// Patterns by wave optics, in which nothing knows of centres of mass, and phases in closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/instruments/stem/phase/integrate.h"
#include "sonde/instruments/stem/phase/ricom.h"
#include "sonde/instruments/stem/phase/rotation.h"
#include "sonde/instruments/stem/phase/test_waves.h"

namespace sonde::stem {
namespace {

constexpr double pi = std::numbers::pi, degree = pi / 180;

double apart_in_a_turn(double a, double b) { return std::remainder(a - b, 2 * pi); }

/// Slope and scatter of `found` over `truth`, means aside.
struct Fit {
  double slope = 0, correlation = 0, rms = 0;  // rms of the difference over the range of the truth
};

Fit fit_of(const std::vector<double>& found, const std::vector<double>& truth) {
  const auto count = static_cast<double>(truth.size());
  double f = 0, t = 0, ff = 0, tt = 0, ft = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    f += found[i] / count;
    t += truth[i] / count;
  }
  for (std::size_t i = 0; i < truth.size(); ++i) {
    ff += (found[i] - f) * (found[i] - f);
    tt += (truth[i] - t) * (truth[i] - t);
    ft += (found[i] - f) * (truth[i] - t);
  }
  const auto [low, high] = std::minmax_element(truth.begin(), truth.end());
  return {ft / tt, ft / std::sqrt(ff * tt), std::sqrt((ff - 2 * ft + tt) / count) / (*high - *low)};
}

/// 2 pi k in rad/A.
VectorField gradient_of(const Waves& waves) { return turned(waves.centres, 0, false, 2 * pi * waves.pixel); }

double rms_deflection(const Waves& waves) {
  double sum = 0;
  for (std::size_t i = 0; i < waves.phase.size(); ++i)
    sum += waves.centres.x[i] * waves.centres.x[i] + waves.centres.y[i] * waves.centres.y[i];
  return std::sqrt(sum / static_cast<double>(waves.phase.size()));
}

class RotationOfWaves : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(EveryThirtyDegrees, RotationOfWaves, ::testing::Range(0, 12));

TEST_P(RotationOfWaves, IsFoundWithItsTranspositionAndSign) {
  const double angle = (30 * GetParam() - 175) * degree;
  for (const bool transpose : {false, true}) {
    SCOPED_TRACE(transpose);
    const double height = (GetParam() + (transpose ? 1 : 0)) % 2 == 0 ? 1.0 : -1.0;
    WaveScan scan = hilly_scan(26, 34, height);
    scan.rotation = angle;
    scan.transpose = transpose;
    const Waves waves = simulate_waves(std::move(scan), false);
    const RotationRequest request{.contrast = height > 0 ? Contrast::hills : Contrast::valleys};
    const ScanRotation found = find_rotation(waves.centres, request);
    EXPECT_EQ(found.transpose, transpose);
    // Differences of a scan this small: 0.12 degrees (rms over arrangements of the hills), 0.06 for 64 x 64 positions.
    EXPECT_NEAR(apart_in_a_turn(found.rotation, angle), 0, 0.2 * degree);
    EXPECT_GT(found.confidence, 0.9);
    // 1000 counts in a pattern: 0.12 degrees for 64 x 64 positions, so 0.26 for these.
    const ScanRotation noisy = find_rotation(with_counts(waves, 1000, 1), request);
    EXPECT_EQ(noisy.transpose, transpose);
    EXPECT_NEAR(apart_in_a_turn(noisy.rotation, angle), 0, 1.1 * degree);
  }
}

// About as many positions as 64 x 64, of atoms: deflections of 0.1 and of 0.02 of the semiangle.
TEST(RotationOfNoisyWaves, KeepsItsErrorAndReportsIt) {
  WaveScan scan = hilly_scan(56, 72, 1, 1.1, 0.9);
  scan.rotation = 0.6;
  scan.transpose = true;
  const double semiangle = wave_optics().disk_radius;
  const double rms = rms_deflection(simulate_waves(scan, false));
  for (PhaseHill& hill : scan.hills) hill.height *= 0.1 * semiangle / rms;
  Waves waves = simulate_waves(scan, false);
  // Centres of mass are linear in the phase.
  EXPECT_NEAR(rms_deflection(waves), 0.1 * semiangle, 1e-3 * semiangle);
  EXPECT_NEAR(apart_in_a_turn(find_rotation(waves.centres, {}).rotation, 0.6), 0, 0.1 * degree);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const ScanRotation found = find_rotation(with_counts(waves, 1000, seed), {});
    EXPECT_TRUE(found.transpose);
    EXPECT_NEAR(apart_in_a_turn(found.rotation, 0.6), 0, 0.5 * degree) << seed;
  }
  waves.centres = turned(std::move(waves.centres), 0, false, 0.2);
  double squares = 0, variance = 0;
  constexpr int trials = 100;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const ScanRotation found = find_rotation(with_counts(waves, 1000, 1000 + seed), {});
    EXPECT_TRUE(found.transpose) << seed;
    const double off = apart_in_a_turn(found.rotation, 0.6);
    squares += off * off / trials;
    variance += found.standard_error * found.standard_error / trials;
  }
  // White noise of these counts, blurred by one step, leaves 0.75 degrees; 0.79 to 0.91 over several sets of seeds.
  EXPECT_LT(std::sqrt(squares), 1.0 * degree);
  EXPECT_NEAR(std::log(std::sqrt(variance / squares)), 0, std::log(1.3));
}

TEST(PhaseOfWaves, ByCosinesIsThatWhichTheProbeSees) {
  const Waves waves = simulate_waves(hilly_scan(40, 52, 1));
  const Fit fit = fit_of(integrate_cosine(gradient_of(waves)), waves.seen);
  EXPECT_GT(fit.slope, 0.98);
  EXPECT_LT(fit.slope, 1.01);
  EXPECT_LT(fit.rms, 0.01);
}

// Radians: a hill of 1 rad that is wide against the probe.
TEST(PhaseOfWaves, IsInRadians) {
  WaveScan scan{.scan_rows = 30, .scan_cols = 36, .step = 2};
  scan.hills = {{.y = 3, .x = -5, .height = 1, .width = 9}};
  const Waves waves = simulate_waves(std::move(scan));
  const Fit fit = fit_of(integrate_cosine(gradient_of(waves)), waves.phase);
  EXPECT_NEAR(fit.slope, 1, 0.02);
  EXPECT_LT(fit.rms, 0.02);
}

TEST(PhaseOfWaves, ByAFullKernelIsThatOfFourier) {
  WaveScan scan = hilly_scan(44, 56, 1, 1.6, 0.4);  // hills of 4 steps that end within the scan
  std::erase_if(scan.hills, [](const PhaseHill& hill) { return std::abs(hill.y) > 6.5 || std::abs(hill.x) > 9; });
  ASSERT_GE(scan.hills.size(), 2U);
  const Waves waves = simulate_waves(std::move(scan), false);
  const VectorField gradient = gradient_of(waves);
  const Fit fit = fit_of(integrate_kernel(gradient, RicomKernel({.half = 56}, gradient.step_row, gradient.step_col)),
                         integrate_fourier(gradient, {.padding = 2}));
  EXPECT_GT(fit.correlation, 0.999);
  EXPECT_GT(fit.slope, 0.985);
  EXPECT_LT(fit.slope, 1.005);
}

}  // namespace
}  // namespace sonde::stem
