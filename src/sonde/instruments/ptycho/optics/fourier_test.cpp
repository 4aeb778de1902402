// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/fourier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/instruments/ptycho/optics/test_waves.h"

namespace sonde::ptycho {
namespace {

using std::numbers::pi;

// A transform of a few hundred elements of size one, and back.
constexpr double transform_rounding = 1e-13;

TEST(Frequency, IsThatOfNumPy) {
  const double even[] = {0, 1.0 / 6, 2.0 / 6, -3.0 / 6, -2.0 / 6, -1.0 / 6};
  const double odd[] = {0, 0.2, 0.4, -0.4, -0.2};
  for (Index i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(frequency(i, 6), even[i]) << i;
  for (Index i = 0; i < 5; ++i) EXPECT_DOUBLE_EQ(frequency(i, 5), odd[i]) << i;
}

TEST(Fourier, IsTheSumOfItsDefinition) {
  const Index rows = 6, cols = 5;
  const Array waves = random_waves({2, rows, cols});
  Array transformed = waves.clone();
  fourier(transformed);
  const auto psi = waves.view<complex128, 3>();
  const auto result = std::as_const(transformed).view<complex128, 3>();
  for (Index plane = 0; plane < 2; ++plane)
    for (Index ky = 0; ky < rows; ++ky)
      for (Index kx = 0; kx < cols; ++kx) {
        complex128 sum = 0;
        for (Index y = 0; y < rows; ++y)
          for (Index x = 0; x < cols; ++x)
            sum += psi(plane, y, x) *
                   std::polar(1.0, -2 * pi * (static_cast<double>(ky * y) / rows + static_cast<double>(kx * x) / cols));
        EXPECT_LT(std::abs(result(plane, ky, kx) - sum / std::sqrt(30.0)), transform_rounding) << plane << ky << kx;
      }
}

TEST(Fourier, KeepsThePower) {
  Array waves = random_waves({3, 12, 10});
  const double before = sum_of_squares(waves);
  fourier(waves);
  EXPECT_NEAR(sum_of_squares(waves) / before, 1, transform_rounding);
}

TEST(Fourier, InverseUndoesForward) {
  const Array start = random_waves({3, 7, 9});
  Array waves = start.clone();
  fourier(waves);
  EXPECT_GT(largest_difference(waves, start), 0.1);
  inverse_fourier(waves);
  EXPECT_LT(largest_difference(waves, start), transform_rounding);
}

TEST(CentreToCorner, MovesTheCentralIndexToTheCorner) {
  for (const Index n : {1, 2, 5, 6}) {
    SCOPED_TRACE(n);
    std::vector<float> numbers;
    for (Index i = 0; i < 2 * n * (n + 1); ++i) numbers.push_back(static_cast<float>(i));
    const Array planes = Array::from(numbers, {2, n, n + 1});
    const Array corner = centre_to_corner(planes);
    const auto from = planes.view<float, 3>();
    const auto to = corner.view<float, 3>();
    for (Index plane = 0; plane < 2; ++plane)
      for (Index row = 0; row < n; ++row)
        for (Index col = 0; col < n + 1; ++col)
          ASSERT_EQ(to(plane, row, col), from(plane, (row + n / 2) % n, (col + (n + 1) / 2) % (n + 1)));
    const Array back = corner_to_centre(corner);
    const auto again = back.view<float, 3>();
    for (Index i = 0; i < planes.count(); ++i) ASSERT_EQ(again.data[i], from.data[i]);
  }
}

TEST(Frequency, IsTheSameCycleOfTheWindowInALargerSpectrum) {
  for (const auto& [n, m] : {std::pair<Index, Index>{8, 16}, {5, 8}, {8, 15}, {6, 6}, {1, 4}})
    for (Index i = 0; i < n; ++i)
      EXPECT_NEAR(frequency(same_frequency(i, n, m), m) * static_cast<double>(m),
                  frequency(i, n) * static_cast<double>(n), transform_rounding)
          << i << " of " << n << " in " << m;
}

TEST(ShiftWaves, ByOneIsARoll) {
  const Array start = random_waves({2, 8, 5});
  Array waves = start.clone();
  shift_waves(waves, 1, -2);
  const auto from = start.view<complex128, 3>();
  const auto to = std::as_const(waves).view<complex128, 3>();
  for (Index plane = 0; plane < 2; ++plane)
    for (Index row = 0; row < 8; ++row)
      for (Index col = 0; col < 5; ++col)
        EXPECT_LT(std::abs(to(plane, (row + 1) % 8, (col + 3) % 5) - from(plane, row, col)), transform_rounding);
}

TEST(ShiftWaves, BackIsTheIdentity) {
  const Array start = random_waves({1, 8, 6});
  Array waves = start.clone();
  shift_waves(waves, 0.37, -0.21);
  EXPECT_GT(largest_difference(waves, start), 0.1);
  shift_waves(waves, -0.37, 0.21);
  EXPECT_LT(largest_difference(waves, start), transform_rounding);
}

TEST(ShiftWaves, BackIsTheAdjoint) {
  const Array x = random_waves({1, 8, 6}, 1), y = random_waves({1, 8, 6}, 2);
  Array shifted = x.clone(), back = y.clone();
  shift_waves(shifted, 0.45, 0.3);
  shift_waves(back, -0.45, -0.3);
  EXPECT_LT(std::abs(inner_product(shifted, y) - inner_product(x, back)), 1e-12);
}

TEST(ShiftWaves, MovesABumpTowardsLargerIndices) {
  Array waves = Array::zeros(Device::cpu(), {1, 32, 32}, DType::c128);
  const auto psi = waves.view<complex128, 3>();
  const auto bump = [](double y, double x) { return std::exp(-(y * y + x * x) / 8); };
  for (Index row = 0; row < 32; ++row)
    for (Index col = 0; col < 32; ++col)
      psi(0, row, col) = bump(static_cast<double>(row - 16), static_cast<double>(col - 16));
  shift_waves(waves, 0.5, -0.25);
  for (Index row = 0; row < 32; ++row)
    for (Index col = 0; col < 32; ++col)
      // exp(-32), the bump at the border, and its spectrum at the Nyquist frequency, exp(-2 pi^2) = 3e-9.
      EXPECT_LT(std::abs(psi(0, row, col) - bump(static_cast<double>(row) - 16.5, static_cast<double>(col) - 15.75)),
                1e-7);
}

}  // namespace
}  // namespace sonde::ptycho
