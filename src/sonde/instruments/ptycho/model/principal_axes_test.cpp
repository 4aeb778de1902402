// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/principal_axes.h"

#include <gtest/gtest.h>

namespace sonde::ptycho {
namespace {

using Complex = std::complex<double>;

TEST(PrincipalAxes, OfAKnownMatrixAreThose) {
  // Eigenvalues 3 and 1 with the axes (1, -i) / sqrt 2 and (1, i) / sqrt 2.
  const std::vector<Complex> g = {2, {0, 1}, {0, -1}, 2};
  const std::vector<Complex> v = principal_axes(g, 2);
  const double values[] = {3, 1};
  for (Index k = 0; k < 2; ++k) {
    double norm = 0;
    for (Index m = 0; m < 2; ++m) {
      const Complex along = g[static_cast<std::size_t>(2 * m)] * v[static_cast<std::size_t>(k)] +
                            g[static_cast<std::size_t>(2 * m + 1)] * v[static_cast<std::size_t>(2 + k)];
      EXPECT_LT(std::abs(along - values[k] * v[static_cast<std::size_t>(2 * m + k)]), 1e-14);
      norm += std::norm(v[static_cast<std::size_t>(2 * m + k)]);
    }
    EXPECT_NEAR(norm, 1, 1e-14);
  }
}

TEST(PrincipalAxes, OfADiagonalMatrixSortIt) {
  const std::vector<Complex> g = {1, 0, 0, 0, 3, 0, 0, 0, 2};
  const std::vector<Complex> expected = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  const std::vector<Complex> v = principal_axes(g, 3);
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_LT(std::abs(v[i] - expected[i]), 1e-15);
}

}  // namespace
}  // namespace sonde::ptycho
