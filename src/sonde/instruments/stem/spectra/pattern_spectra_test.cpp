// SPDX-License-Identifier: Apache-2.0
// Against sums that are written out in double precision, and the scatter of drawn counts.
#include "sonde/instruments/stem/spectra/pattern_spectra.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "sonde/engine/math/poisson.h"
#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/spectra/power_peak.h"
#include "sonde/instruments/stem/spectra/test_lattices.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::SpotLattice;

double hann_at(Index i, Index extent) {
  return 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(extent));
}

/// |sum w L exp(-2 pi i (y r / rows + x c / cols))|^2 as it is written.
template <class T>
double written_power(std::span<const T> frame, Index rows, Index cols, bool log, bool hann, double y, double x) {
  std::complex<double> sum = 0;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const auto value = static_cast<double>(frame[static_cast<std::size_t>(r * cols + c)]);
      const double weight = hann ? hann_at(r, rows) * hann_at(c, cols) : 1;
      sum += weight * (log ? std::log(1 + value) : value) *
             std::polar(1.0, -2 * std::numbers::pi *
                                 (y * static_cast<double>(r) / static_cast<double>(rows) +
                                  x * static_cast<double>(c) / static_cast<double>(cols)));
    }
  return std::norm(sum);
}

std::vector<std::uint16_t> noise(std::size_t count, std::uint64_t seed, double most) {
  Random random(seed);
  std::vector<std::uint16_t> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(static_cast<std::uint16_t>(random.uniform() * most));
  return made;
}

PatternSpectra spectra_of(const Dataset& dataset, const PatternPower& plan, std::optional<SpectralPair> near = {},
                          double radius = 2) {
  PatternSpectra made(plan, near, radius);
  Operation* const operation = &made;
  visit_frames(dataset, "", std::span(&operation, 1));
  return made;
}

TEST(PatternSpectra, TheMeanIsThatOfWrittenSums) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{11, 14}, {12, 9}, {8, 20}})
    for (const PatternScale scale : {PatternScale::logarithm, PatternScale::counts})
      for (const PatternWindow window : {PatternWindow::hann, PatternWindow::none}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " " << name(window));
        const auto pixels = static_cast<std::size_t>(rows * cols);
        const std::vector<std::uint16_t> frames = noise(3 * pixels, 3, 9000);  // beyond the table of logarithms too
        const Dataset dataset = stem::testing::loaded<std::uint16_t>(1, 3, rows, cols, frames);
        const PatternPower plan = PatternPower::prepare(rows, cols, scale, window);
        const PatternSpectra made = spectra_of(dataset, plan);
        EXPECT_EQ(made.frames, 3);
        double largest = 0;
        for (const double value : made.mean) largest = std::max(largest, value);
        for (Index k = 0; k < rows; ++k)
          for (Index l = 0; l <= cols / 2; ++l) {
            double mean = 0;
            for (std::size_t frame = 0; frame < 3; ++frame)
              mean += written_power(std::span(frames).subspan(frame * pixels, pixels), rows, cols,
                                    scale == PatternScale::logarithm, window == PatternWindow::hann,
                                    static_cast<double>(k), static_cast<double>(l)) /
                      3;
            // Rounding of a float32 transform is relative to its largest value.
            EXPECT_NEAR(made.mean[static_cast<std::size_t>(k * (cols / 2 + 1) + l)], mean, 1e-6 * largest);
          }
      }
}

TEST(PatternSpectra, TheWholeOfAMeanHasItsMiddleInTheMiddle) {
  constexpr Index rows = 9, cols = 12;
  const std::vector<std::uint16_t> frame = noise(rows * cols, 8, 50);
  const Dataset dataset = stem::testing::loaded<std::uint16_t>(1, 1, rows, cols, frame);
  const PatternPower plan = PatternPower::prepare(rows, cols, PatternScale::counts, PatternWindow::none);
  const std::vector<double> whole = centred(spectra_of(dataset, plan).mean, rows, cols);
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      EXPECT_NEAR(whole[static_cast<std::size_t>(row * cols + col)],
                  written_power<std::uint16_t>(frame, rows, cols, false, false, static_cast<double>(row - 4),
                                               static_cast<double>(col - 6)),
                  1e-6 * whole[4 * cols + 6]);
}

TEST(PowerAt, DerivativesAreThoseOfWrittenSums) {
  constexpr Index rows = 13, cols = 10;
  const std::vector<std::uint16_t> frame = noise(rows * cols, 5, 40);
  const PatternPower plan = PatternPower::prepare(rows, cols, PatternScale::logarithm, PatternWindow::hann);
  PatternPower::Scratch scratch(plan);
  plan.run(frame.data(), scratch);
  PowerAt power(rows, cols);
  const double y = 2.3, x = -1.6, h = 1e-3;
  const Derivatives d = power.derivatives(scratch.pattern.data(), y, x);
  const auto value = [&](double i, double j) {
    return written_power<std::uint16_t>(frame, rows, cols, true, true, y + i * h, x + j * h);
  };
  // Differences err by h^2; patterns are float32.
  const double close = 2e-5 * value(0, 0) + 1e-5 * written_power<std::uint16_t>(frame, rows, cols, true, true, 0, 0);
  EXPECT_NEAR(d[0], value(0, 0), close);
  EXPECT_NEAR(d[3], (value(1, 0) - value(-1, 0)) / (2 * h), close);
  EXPECT_NEAR(d[1], (value(0, 1) - value(0, -1)) / (2 * h), close);
  EXPECT_NEAR(d[6], (value(1, 0) - 2 * value(0, 0) + value(-1, 0)) / (h * h), close);
  EXPECT_NEAR(d[2], (value(0, 1) - 2 * value(0, 0) + value(0, -1)) / (h * h), close);
  EXPECT_NEAR(d[4], (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / (4 * h * h), close);
}

TEST(PowerAt, AMaximumMovesWithAPixelAsItSays) {
  constexpr Index rows = 24, cols = 30;
  SpotLattice lattice{.rows = rows, .cols = cols, .basis = {6, 0.7, -1, 5}, .q0_x = 14.2, .q0_y = 11.6};
  std::vector<std::uint16_t> frame;
  for (const double value : lattice.drawn()) frame.push_back(static_cast<std::uint16_t>(std::lround(400 * value)));
  const PatternPower plan = PatternPower::prepare(rows, cols, PatternScale::counts, PatternWindow::hann);
  PatternPower::Scratch scratch(plan);
  PowerAt power(rows, cols);
  const Frequency near{0.16, 0.03};
  plan.run(frame.data(), scratch);
  const auto before = place_peak(plan, scratch, near, 2, power);
  ASSERT_TRUE(before);
  std::vector<float> along_y, along_x;
  power.movements(before->maximum, along_y, along_x);
  const std::size_t pixel = 9 * cols + 17;
  frame[pixel] = static_cast<std::uint16_t>(frame[pixel] + 60);
  plan.run(frame.data(), scratch);
  const auto after = place_peak(plan, scratch, near, 2, power);
  ASSERT_TRUE(after);
  const double change = 60 * hann_at(9, rows) * hann_at(17, cols);
  const double y = after->maximum.y - before->maximum.y, x = after->maximum.x - before->maximum.x;
  ASSERT_GT(std::hypot(y, x), 1e-3);
  // To first order: the second one is of the square of the change, a hundredth here.
  EXPECT_NEAR(y, change * static_cast<double>(along_y[pixel]), 0.03 * std::hypot(y, x));
  EXPECT_NEAR(x, change * static_cast<double>(along_x[pixel]), 0.03 * std::hypot(y, x));
}

TEST(PatternSpectra, ErrorsAreTheScatterOfDrawnCounts) {
  constexpr Index rows = 24, cols = 30, positions = 900;
  const SpotLattice lattice{.rows = rows, .cols = cols, .basis = {6, 0.7, -1, 5}, .q0_x = 14.2, .q0_y = 11.6};
  std::vector<double> rate = lattice.drawn();
  std::vector<std::uint16_t> frames;
  std::vector<std::uint32_t> drawn(rate.size());
  for (double& value : rate) value = 30 * value + 0.2;
  for (Index position = 0; position < positions; ++position) {
    draw_poisson({.seed = 11, .stream = static_cast<std::uint64_t>(position)}, rate, drawn);
    for (const std::uint32_t count : drawn) frames.push_back(static_cast<std::uint16_t>(count));
  }
  const Dataset dataset = stem::testing::loaded<std::uint16_t>(30, 30, rows, cols, std::move(frames));
  const PatternPower plan = PatternPower::prepare(rows, cols, PatternScale::logarithm, PatternWindow::hann);
  const double area = lattice.basis.area();
  const SpectralPair near{lattice.basis.g2_y / area, -lattice.basis.g2_x / area, -lattice.basis.g1_y / area,
                          lattice.basis.g1_x / area};
  const PatternSpectra made = spectra_of(dataset, plan, near);
  double SpectralPair::*const parts[] = {&SpectralPair::a1_x, &SpectralPair::a1_y, &SpectralPair::a2_x,
                                         &SpectralPair::a2_y};
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0, squares = 0, variance = 0;
    for (const MeasuredPair& one : made.pairs) {
      ASSERT_TRUE(one.found);
      sum += one.pair.*parts[i];
      squares += (one.pair.*parts[i]) * (one.pair.*parts[i]);
      variance += one.covariance[i][i];
    }
    const double n = positions, mean = sum / n;
    const double scatter = std::sqrt((squares / n - mean * mean) * n / (n - 1));
    // A standard deviation of 900 is known to 2.4 %; where counts are about one the variance is 7 % too large.
    EXPECT_NEAR(scatter / std::sqrt(variance / n), 1, 0.1) << i;
    // Disks pull a peak towards the middle by their own transform, Gaussian spots of 1 px by little.
    EXPECT_NEAR(mean, near.*parts[i], 2e-3) << i;
  }
}

TEST(PatternSpectra, PositionsWithoutAFrameHaveNone) {
  constexpr Index rows = 20, cols = 24;
  const SpotLattice lattice{.rows = rows, .cols = cols, .basis = {4, 0, 0, 4}, .q0_x = 12, .q0_y = 9, .width = 0.8};
  std::vector<std::uint16_t> frame;
  for (const double value : lattice.drawn()) frame.push_back(static_cast<std::uint16_t>(100 * value));
  const Dataset dataset = stem::testing::loaded<std::uint16_t>(1, 2, rows, cols, frame);  // the second is missing
  const PatternPower plan = PatternPower::prepare(rows, cols, PatternScale::logarithm, PatternWindow::hann);
  const PatternSpectra made = spectra_of(dataset, plan, SpectralPair{0.25, 0, 0, 0.25});
  EXPECT_EQ(made.frames, 1);
  EXPECT_EQ(made.valid, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_TRUE(made.pairs[0].found);
  EXPECT_FALSE(made.pairs[1].found);
}

TEST(PatternSpectra, RefusesWhatItCannotTransform) {
  EXPECT_EQ(error_of(ErrorKind::bad_input,
                     [] { (void)PatternPower::prepare(7, 30, PatternScale::counts, PatternWindow::none); }),
            "error: patterns of 7 x 30 pixels; expected at least 8 rows and columns for a spectrum");
  const Dataset dataset = stem::testing::loaded<std::uint16_t>(1, 1, 10, 12, noise(120, 1, 9));
  const PatternPower plan = PatternPower::prepare(12, 10, PatternScale::counts, PatternWindow::none);
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)spectra_of(dataset, plan); }),
            "error: spectra of a detector of 12 x 10 pixels, but patterns of 10 x 12");
}

}  // namespace
}  // namespace sonde::stem
