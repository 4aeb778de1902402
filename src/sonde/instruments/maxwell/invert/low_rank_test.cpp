// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/low_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace sonde::maxwell {
namespace {

constexpr Index matrix_rows = 40;

/// Element i of vector k of the orthonormal basis of the discrete cosine transform.
double cosine(Index k, Index i) {
  const double n = static_cast<double>(matrix_rows);
  return std::sqrt((k == 0 ? 1 : 2) / n) *
         std::cos(std::numbers::pi * static_cast<double>(k) * (static_cast<double>(i) + 0.5) / n);
}

/// A matrix of these vectors with the eigenvalues `decay` to the power of k, the first `many` of them.
SymmetricProduct falling(double decay, Index many) {
  return [=](std::span<const double> direction) {
    std::vector<double> made(static_cast<std::size_t>(matrix_rows));
    for (Index k = 0; k < many; ++k) {
      double along = 0;
      for (Index i = 0; i < matrix_rows; ++i) along += cosine(k, i) * direction[static_cast<std::size_t>(i)];
      for (Index i = 0; i < matrix_rows; ++i)
        made[static_cast<std::size_t>(i)] += std::pow(decay, static_cast<double>(k)) * along * cosine(k, i);
    }
    return made;
  };
}

TEST(LargestEigenpairs, AreExactForAMatrixOfLowRank) {
  const Eigenpairs found = largest_eigenpairs(falling(0.9, 12), matrix_rows, 12);
  ASSERT_EQ(found.values.size(), 12U);
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_NEAR(found.values[k], std::pow(0.9, static_cast<double>(k)), 1e-13);  // rounding of 22 products
    double along = 0;
    for (Index i = 0; i < matrix_rows; ++i)
      along += cosine(static_cast<Index>(k), i) * found.vectors[k][static_cast<std::size_t>(i)];
    EXPECT_NEAR(std::abs(along), 1, 1e-12);
  }
}

TEST(LargestEigenpairs, AreNearAndNotAboveWhereEigenvaluesFall) {
  const Eigenpairs found = largest_eigenpairs(falling(0.5, matrix_rows), matrix_rows, 8);
  for (std::size_t k = 0; k < 8; ++k) {
    const double wanted = std::pow(0.5, static_cast<double>(k));
    EXPECT_LE(found.values[k], wanted * (1 + 1e-13));
    // Theorem 10.6 of Halko et al. 2011: about (1 + 9 sqrt(40)) times the first eigenvalue left out, 0.5^18, squared
    // over the value itself.
    EXPECT_NEAR(found.values[k], wanted, 1e-5 * wanted);
  }
}

TEST(LargestEigenpairs, AreAtMostAsManyAsTheMatrixHasRows) {
  EXPECT_EQ(largest_eigenpairs(falling(0.9, matrix_rows), matrix_rows, 100).values.size(), 40U);
}

}  // namespace
}  // namespace sonde::maxwell
