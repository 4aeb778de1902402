// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/dense/cholesky.h"

#include <gtest/gtest.h>

#include <limits>

#include "sonde/engine/math/dense/test_matrices.h"

namespace sonde::dense {
namespace {

using testing::fill;
using testing::Owned;
using testing::positive_definite;

template <class T>
class CholeskyByBlocks : public ::testing::Test {};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CholeskyByBlocks, Elements);

TYPED_TEST(CholeskyByBlocks, FactorsAndSolvesAtEverySizeAroundTheBlocks) {
  using T = TypeParam;
  for (const Index n :
       {Index{0}, Index{1}, Index{2}, largest_block - 1, largest_block, largest_block + 1, 2 * largest_block + 5}) {
    SCOPED_TRACE(n);
    Owned<T> a = positive_definite<T>(n, 3), r(a), inverses(n, inverse_columns(n)), b(n, 4), x(n, 4);
    std::vector<T> scratch(static_cast<std::size_t>(inverse_columns(n) * std::max<Index>(n, 4)));
    const Cholesky<T> factor{r.view, inverses.view};
    ASSERT_TRUE(factorise(factor, std::span<T>(scratch)));
    // Entries of R are up to sqrt(2 n); rounding of n products of them, condition below ten.
    const double tolerance = 40 * static_cast<double>(n + 1) * std::numeric_limits<T>::epsilon();
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        double sum = 0;
        for (Index k = 0; k <= j; ++k) sum += static_cast<double>(r(i, k)) * static_cast<double>(r(j, k));
        ASSERT_NEAR(sum, a(i, j), tolerance) << i << ' ' << j;
      }
    fill(x.view, 5);
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < 4; ++c) {
        double sum = 0;
        for (Index k = 0; k <= i; ++k) sum += static_cast<double>(r(i, k)) * static_cast<double>(x(k, c));
        b(i, c) = static_cast<T>(sum);
      }
    solve_lower(factor, b.view, std::span<T>(scratch));
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < 4; ++c) ASSERT_NEAR(b(i, c), x(i, c), tolerance);
    std::vector<T> y(static_cast<std::size_t>(n)), product(y.size());
    for (Index i = 0; i < n; ++i) y[static_cast<std::size_t>(i)] = x(i, 0);
    multiply_symmetric(a.view, std::span<const T>(y), std::span<T>(product));
    prepare_solve(factor);
    solve(factor, std::span<T>(product));
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(product[i], y[i], tolerance);
  }
}

TYPED_TEST(CholeskyByBlocks, WhatIsNotPositiveDefiniteIsToldInAnyBlock) {
  using T = TypeParam;
  const Index n = largest_block + 9;
  for (const Index at : {Index{0}, n - 1}) {
    Owned<T> a = positive_definite<T>(n, 3), inverses(n, inverse_columns(n));
    a(at, at) = -a(at, at);
    std::vector<T> scratch(static_cast<std::size_t>(n * largest_block));
    EXPECT_FALSE(factorise(Cholesky<T>{a.view, inverses.view}, std::span<T>(scratch)));
  }
}

}  // namespace
}  // namespace sonde::dense
