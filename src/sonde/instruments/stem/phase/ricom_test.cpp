// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/ricom.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/phase/integrate.h"

namespace sonde::stem {
namespace {

VectorField random_field(Index rows, Index cols) {
  VectorField field = make_field(rows, cols, 0.8, 1.25);
  draw_normal({11, 0}, field.x);
  draw_normal({11, 1}, field.y);
  return field;
}

/// The definition, one product after the other.
double kernel_sum_at(const VectorField& g, const RicomKernel& kernel, Index row, Index col) {
  double sum = 0;
  for (Index r = 0; r < g.rows; ++r)
    for (Index c = 0; c < g.cols; ++c) {
      const Index down = row - r, across = col - c, half = kernel.half();
      if (std::abs(down) > half || std::abs(across) > half) continue;
      const Index element = (down + half) * kernel.width() + across + half;
      sum += g.x[static_cast<std::size_t>(r * g.cols + c)] * kernel.x()[element] +
             g.y[static_cast<std::size_t>(r * g.cols + c)] * kernel.y()[element];
    }
  return sum;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(Ricom, IsItsDefinition) {
  const VectorField field = random_field(9, 14);
  for (const Index half : {2, 5, 20}) {
    const RicomKernel kernel({.half = half}, field.step_row, field.step_col);
    const std::vector<double> values = integrate_kernel(field, kernel);
    for (Index row = 0; row < 9; ++row)
      for (Index col = 0; col < 14; ++col)
        ASSERT_NEAR(values[static_cast<std::size_t>(row * 14 + col)], kernel_sum_at(field, kernel, row, col), 1e-12)
            << half << " " << row << " " << col;
  }
}

TEST(Ricom, AKernelIsTheFieldOfAPoint) {
  const RicomKernel kernel({.half = 3}, 0.5, 2);
  const Index element = (1 + 3) * 7 + (-2 + 3);  // a row down, two columns to the left
  const double x = -4, y = 0.5;
  EXPECT_NEAR(kernel.x()[element], x / (2 * std::numbers::pi * (x * x + y * y)), 1e-15);
  EXPECT_NEAR(kernel.y()[element], y / (2 * std::numbers::pi * (x * x + y * y)), 1e-15);
  EXPECT_EQ(kernel.x()[3 * 7 + 3], 0);
  const RicomKernel plain({.half = 3, .normalise = false}, 0.5, 2);
  EXPECT_NEAR(plain.x()[element], -2.0 / 5, 1e-15);
}

TEST(Ricom, PositionsInAnyOrderGiveTheBatch) {
  const VectorField field = random_field(10, 15);
  const RicomKernel kernel({.half = 4}, field.step_row, field.step_col);
  const std::vector<double> batch = integrate_kernel(field, kernel);
  std::vector<Index> raster(150), serpentine;
  std::iota(raster.begin(), raster.end(), Index{0});
  for (Index row = 0; row < 10; ++row)
    for (Index col = 0; col < 15; ++col) serpentine.push_back(row * 15 + (row % 2 == 0 ? col : 14 - col));
  for (const std::vector<Index>& order : {raster, serpentine, Random(2).permutation(150)}) {
    RicomImage image(kernel, 10, 15);
    for (const Index at : order)
      ASSERT_TRUE(
          image.add(at / 15, at % 15, field.x[static_cast<std::size_t>(at)], field.y[static_cast<std::size_t>(at)]));
    EXPECT_FALSE(image.add(3, 4, 1, 1));  // a position counts once
    EXPECT_LT(largest_difference(image.values(), batch), 1e-12);
  }
}

TEST(Ricom, IsCompleteWhereAllNeighboursHaveArrived) {
  const RicomKernel kernel({.half = 2}, 1, 1);
  RicomImage image(kernel, 7, 9);
  for (Index row = 0; row < 7; ++row)
    for (Index col = 0; col < 9; ++col)
      if (row != 6 || col != 8) (void)image.add(row, col, 0, 0);
  const std::vector<std::uint8_t> complete = image.complete();
  EXPECT_EQ(std::accumulate(complete.begin(), complete.end(), 0), 3 * 5 - 1);
  EXPECT_EQ(complete[2 * 9 + 2], 1);
  EXPECT_EQ(complete[1 * 9 + 4], 0);
  EXPECT_EQ(complete[4 * 9 + 6], 0);  // reaches the last position
}

TEST(Ricom, TheOrientationIsFoldedIntoTheKernel) {
  const VectorField field = random_field(8, 11);
  for (const bool transpose : {false, true}) {
    const RicomKernel plain({.half = 3}, field.step_row, field.step_col),
        folded({.half = 3, .orientation = {0.6, transpose}}, field.step_row, field.step_col);
    EXPECT_LT(
        largest_difference(integrate_kernel(turned(field, 0.6, transpose), plain), integrate_kernel(field, folded)),
        1e-12);
  }
}

TEST(Ricom, ABandKeepsItsFrequencies) {
  // A kernel of all frequencies is the kernel; bands that share none add up to it, but for frequency 0.
  const RicomKernel whole({.half = 6}, 1, 1), low({.half = 6, .lowest = -1, .highest = 3}, 1, 1),
      high({.half = 6, .lowest = 3, .highest = 100}, 1, 1);
  for (Index i = 0; i < 13 * 13; ++i) {
    ASSERT_NEAR(low.x()[i] + high.x()[i], whole.x()[i], 1e-14);
    ASSERT_NEAR(low.y()[i] + high.y()[i], whole.y()[i], 1e-14);
  }
  EXPECT_GT(std::abs(high.x()[0]), 1e-6);
}

// Gaussian hills of 4 steps in the middle of the scan, gradients in closed form.
TEST(Ricom, AFullKernelIsTheFourierIntegral) {
  VectorField field = make_field(48, 56);
  for (const auto& [y, x, height] :
       {std::tuple(20.0, 24.0, 1.0), std::tuple(28.0, 34.0, 0.6), std::tuple(24.0, 20.0, 0.5)})
    for (Index i = 0; i < field.positions(); ++i) {
      const double dy = static_cast<double>(i / 56) - y, dx = static_cast<double>(i % 56) - x;
      const double slope = -height / 16 * std::exp(-(dy * dy + dx * dx) / 32);
      field.y[static_cast<std::size_t>(i)] += slope * dy;
      field.x[static_cast<std::size_t>(i)] += slope * dx;
    }
  const std::vector<double> fourier = integrate_fourier(field, {.padding = 2}),
                            kernel = integrate_kernel(field, RicomKernel({.half = 56}, 1, 1));
  double mean_f = 0, mean_k = 0, ff = 0, kk = 0, fk = 0;
  const auto count = static_cast<double>(fourier.size());
  for (std::size_t i = 0; i < fourier.size(); ++i) {
    mean_f += fourier[i] / count;
    mean_k += kernel[i] / count;
  }
  for (std::size_t i = 0; i < fourier.size(); ++i) {
    ff += (fourier[i] - mean_f) * (fourier[i] - mean_f);
    kk += (kernel[i] - mean_k) * (kernel[i] - mean_k);
    fk += (fourier[i] - mean_f) * (kernel[i] - mean_k);
  }
  EXPECT_GT(fk / std::sqrt(ff * kk), 0.999);
  EXPECT_NEAR(fk / ff, 0.995, 0.01);  // K(0) is missing
}

TEST(Ricom, MissingPositionsAddNothing) {
  VectorField field = random_field(6, 7);
  field.valid[10] = 0;
  field.x[10] = field.y[10] = std::numeric_limits<double>::quiet_NaN();
  const RicomKernel kernel({.half = 2}, 1, 1);
  RicomImage image(kernel, 6, 7);
  for (Index i = 0; i < 42; ++i)
    if (i != 10)
      (void)image.add(i / 7, i % 7, field.x[static_cast<std::size_t>(i)], field.y[static_cast<std::size_t>(i)]);
  EXPECT_LT(largest_difference(integrate_kernel(field, kernel), image.values()), 1e-12);
}

}  // namespace
}  // namespace sonde::stem
