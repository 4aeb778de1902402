// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/constrain/modes.h"

#include <gtest/gtest.h>

#include <complex>
#include <random>

namespace sonde::ptycho {
namespace {

/// (M, rows, cols) of random numbers, larger than a piece of the sums.
Array random_probe(Index modes, Index rows, Index cols) {
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  Array probe(Device::cpu(), {modes, rows, cols}, DType::c128);
  for (Index i = 0; i < probe.count(); ++i)
    probe.view<complex128, 3>().data[i] = {normal(generator), normal(generator)};
  return probe;
}

TEST(ModeProducts, AreTheScalarProductsWithTheFirstConjugated) {
  const Array probe = random_probe(3, 50, 60);
  const auto p = probe.view<complex128, 3>();
  const auto gram = mode_products(probe);
  for (Index m = 0; m < 3; ++m)
    for (Index n = 0; n < 3; ++n) {
      complex128 sum = 0;
      for (Index row = 0; row < 50; ++row)
        for (Index col = 0; col < 60; ++col) sum += std::conj(p(m, row, col)) * p(n, row, col);
      EXPECT_LT(std::abs(gram[static_cast<std::size_t>(3 * m + n)] - sum), 1e-10);  // sums of 3000 numbers near 1
    }
}

TEST(Occupancies, AreSharesOfThePower) {
  const Array probe = Array::from<complex128>({{0, 3}, 0, {1, 1}, {1, 1}, 0, 0}, {3, 1, 2});  // powers 9, 4, 0
  EXPECT_EQ(occupancies(probe), (std::vector<double>{9.0 / 13, 4.0 / 13, 0}));
  EXPECT_EQ(total_power(probe), 13);
}

TEST(Occupancies, OfNothingAreZero) {
  EXPECT_EQ(occupancies(Array::zeros(Device::cpu(), {2, 2, 2}, DType::c64)), (std::vector<double>{0, 0}));
}

TEST(LargestOverlap, OfAModeAndItsMultipleIsOne) {
  Array probe = random_probe(3, 8, 8);
  const auto p = probe.view<complex128, 3>();
  for (Index i = 0; i < 64; ++i) p.data[128 + i] = complex128(0.1, -2) * p.data[i];
  EXPECT_NEAR(largest_overlap(probe), 1, 1e-14);
}

TEST(LargestOverlap, OfOrthogonalModesIsZero) {
  EXPECT_EQ(largest_overlap(Array::from<complex128>({1, {0, 1}, {0, 1}, 1}, {2, 1, 2})), 0);
  EXPECT_EQ(largest_overlap(random_probe(1, 4, 4)), 0);
}

}  // namespace
}  // namespace sonde::ptycho
