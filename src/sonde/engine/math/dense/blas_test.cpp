// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/dense/blas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sonde/engine/math/dense/test_matrices.h"

namespace sonde::dense {
namespace {

using testing::fill;
using testing::Owned;
using testing::positive_definite;

template <class T>
class Blas : public ::testing::Test {};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Blas, Elements);

/// Sums of `terms` products of numbers up to one: rounding grows at most like their count.
template <class T>
double rounding(Index terms) {
  return 4 * static_cast<double>(terms + 1) * std::numeric_limits<T>::epsilon();
}

template <class T>
double element(Owned<T>& a, Form form, Index i, Index j) {
  return form == Form::plain ? a(i, j) : a(j, i);
}

TYPED_TEST(Blas, ProductsAreTheSums) {
  for (const Form form_a : {Form::plain, Form::transposed})
    for (const Form form_b : {Form::plain, Form::transposed}) {
      const Index m = 5, n = 7, inner = 3;
      Owned<TypeParam> a = form_a == Form::plain ? Owned<TypeParam>(m, inner) : Owned<TypeParam>(inner, m);
      Owned<TypeParam> b = form_b == Form::plain ? Owned<TypeParam>(inner, n) : Owned<TypeParam>(n, inner);
      Owned<TypeParam> c(m, n);
      fill(a.view, 1), fill(b.view, 2), fill(c.view, 3);
      Owned<TypeParam> before(c);
      multiply(TypeParam{2}, a.view, form_a, b.view, form_b, TypeParam{-1}, c.view);
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) {
          double sum = 0;
          for (Index k = 0; k < inner; ++k) sum += element(a, form_a, i, k) * element(b, form_b, k, j);
          EXPECT_NEAR(c(i, j), 2 * sum - before(i, j), rounding<TypeParam>(2 * inner));
        }
      EXPECT_EQ(c.elements, [&] {  // what lies between the rows stays
        Owned<TypeParam> expected(before);
        for (Index i = 0; i < m; ++i)
          for (Index j = 0; j < n; ++j) expected(i, j) = c(i, j);
        return expected.elements;
      }());
    }
}

TYPED_TEST(Blas, SymmetricProductsFillTheLowerTriangleAlone) {
  for (const Form form : {Form::plain, Form::transposed}) {
    Owned<TypeParam> a(6, 6, 0), c(6, 6);
    fill(a.view, 1), fill(c.view, 2);
    Owned<TypeParam> before(c);
    multiply_symmetric(TypeParam{1}, a.view, form, TypeParam{0.5}, c.view);
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 6; ++j) {
        double sum = 0;
        for (Index k = 0; k < 6; ++k) sum += element(a, form, i, k) * element(a, form, j, k);
        EXPECT_NEAR(c(i, j), j > i ? before(i, j) : sum + before(i, j) / 2, rounding<TypeParam>(6));
      }
  }
}

TYPED_TEST(Blas, ProductsWithVectorsAreTheSums) {
  Owned<TypeParam> a(4, 6);
  fill(a.view, 1);
  const std::vector<TypeParam> x{1, -2, 3, 0.5, 0.25, -1}, y{2, 1, -1, 0.5};
  std::vector<TypeParam> plain(4, TypeParam{1}), transposed(6, TypeParam{1});
  multiply(a.view, Form::plain, std::span<const TypeParam>(x), TypeParam{2}, std::span<TypeParam>(plain));
  multiply(a.view, Form::transposed, std::span<const TypeParam>(y), TypeParam{0}, std::span<TypeParam>(transposed));
  for (Index i = 0; i < 4; ++i) {
    double sum = 2;
    for (Index j = 0; j < 6; ++j) sum += a(i, j) * x[static_cast<std::size_t>(j)];
    EXPECT_NEAR(plain[static_cast<std::size_t>(i)], sum, rounding<TypeParam>(18));
  }
  for (Index j = 0; j < 6; ++j) {
    double sum = 0;
    for (Index i = 0; i < 4; ++i) sum += a(i, j) * y[static_cast<std::size_t>(i)];
    EXPECT_NEAR(transposed[static_cast<std::size_t>(j)], sum, rounding<TypeParam>(8));
  }
}

TYPED_TEST(Blas, TheFactorTimesItselfIsTheMatrixAndSolvesUndoIt) {
  Owned<TypeParam> a = positive_definite<TypeParam>(9, 4), r(a);
  ASSERT_TRUE(factorise_cholesky(r.view));
  for (Index i = 0; i < 9; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = 0; k <= j; ++k) sum += static_cast<double>(r(i, k)) * static_cast<double>(r(j, k));
      EXPECT_NEAR(sum, a(i, j), 20 * rounding<TypeParam>(9));  // entries up to 20
    }
  std::vector<TypeParam> x{1, 2, 3, 4, 5, 6, 7, 8, 9}, product(9);
  multiply_symmetric(a.view, std::span<const TypeParam>(x), std::span<TypeParam>(product));
  solve_triangular(r.view, Form::plain, std::span<TypeParam>(product));
  solve_triangular(r.view, Form::transposed, std::span<TypeParam>(product));
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(product[i], x[i], 100 * rounding<TypeParam>(9));
  a(8, 8) = -1;
  EXPECT_FALSE(factorise_cholesky(a.view));
}

TYPED_TEST(Blas, LuSolvesRowsAndTellsWhatIsSingular) {
  Owned<TypeParam> a(3, 3), row(1, 3);
  const double entries[3][3] = {{0, 2, 1}, {4, 1, -1}, {1, 0, 3}};  // needs an exchange of rows
  const double x[3] = {1, -2, 3};
  for (Index i = 0; i < 3; ++i) {
    double sum = 0;
    for (Index j = 0; j < 3; ++j) {
      a(i, j) = static_cast<TypeParam>(entries[i][j]);
      sum += entries[i][j] * x[j];
    }
    row(0, i) = static_cast<TypeParam>(sum);
  }
  std::vector<int> pivots(3);
  ASSERT_TRUE(factorise_lu(a.view, pivots));
  solve_lu(a.view, pivots, row.view);
  for (Index i = 0; i < 3; ++i) EXPECT_NEAR(row(0, i), x[i], 100 * rounding<TypeParam>(3));
  Owned<TypeParam> singular(2, 2);
  singular(0, 0) = singular(0, 1) = singular(1, 0) = singular(1, 1) = 1;
  EXPECT_FALSE(factorise_lu(singular.view, std::span<int>(pivots).first(2)));
}

TYPED_TEST(Blas, ATriangleMayBeStoredByColumns) {
  const TypeParam columns[9] = {2, 1, -1, 0, 4, 3, 0, 0, 5};  // of [2 0 0; 1 4 0; -1 3 5]
  Matrix<const TypeParam> lower(columns, 3, 3);
  lower.stride[0] = 1;
  lower.stride[1] = 3;
  std::vector<TypeParam> x = {2, 9, 10}, y = {2, 7, 5};
  solve_triangular(lower, Form::plain, std::span<TypeParam>(x));       // 2, 1 + 8, -1 + 6 + 5
  solve_triangular(lower, Form::transposed, std::span<TypeParam>(y));  // 2 + 1 - 1, 4 + 3, 5
  const TypeParam of_x[3] = {1, 2, 1}, of_y[3] = {1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(x[i], of_x[i], 100 * rounding<TypeParam>(3));
    EXPECT_NEAR(y[i], of_y[i], 100 * rounding<TypeParam>(3));
  }
}

TEST(BlasLibrary, SaysItsVersion) { EXPECT_TRUE(library_version().starts_with("OpenBLAS 0.")); }

TEST(Lu, RowsAreSolvedAndTheConditionIsThatOfTheInverse) {
  Owned<double> a(3, 3), rows(2, 3);
  const double entries[3][3] = {{0, 2, 1}, {4, 1, -1}, {1, 0, 3}};  // needs an exchange of rows
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) a(i, j) = entries[i][j];
  const double x[2][3] = {{1, -2, 3}, {0.5, 4, -1}};
  for (Index r = 0; r < 2; ++r)
    for (Index i = 0; i < 3; ++i) {
      rows(r, i) = 0;
      for (Index j = 0; j < 3; ++j) rows(r, i) += entries[i][j] * x[r][j];
    }
  // det = -27; the adjugate's rows are (3, -6, -3), (-13, -1, 4), (-1, 2, -8): the inverse has row sums 12, 18 and 11
  // over 27, and the matrix 3, 6 and 4.
  EXPECT_EQ(row_sum_norm(a.view), 6);
  std::vector<int> pivots(3), counts(3);
  std::vector<double> work(12);
  ASSERT_TRUE(factorise_lu(a.view, pivots));
  solve_lu(a.view, pivots, rows.view);
  for (Index r = 0; r < 2; ++r)
    for (Index i = 0; i < 3; ++i) EXPECT_NEAR(rows(r, i), x[r][i], 1e-14);
  EXPECT_NEAR(reciprocal_condition(a.view, 6, work, counts), 27.0 / (6 * 18), 1e-14);
  Owned<double> singular(2, 2);
  singular(0, 0) = singular(0, 1) = singular(1, 0) = singular(1, 1) = 1;
  EXPECT_FALSE(factorise_lu(singular.view, std::span<int>(pivots).first(2)));
}

TEST(Lu, NothingIsFineToo) {
  Owned<double> none(0, 0);
  EXPECT_TRUE(factorise_cholesky(none.view));
  EXPECT_TRUE(factorise_lu(none.view, {}));
  multiply(1.0, none.view, Form::plain, none.view, Form::plain, 0.0, none.view);
  multiply_symmetric(1.0, none.view, Form::plain, 0.0, none.view);
  Owned<double> empty_inner(3, 0, 1), sum(3, 3);
  fill(sum.view, 1);
  multiply(1.0, empty_inner.view, Form::plain, empty_inner.view, Form::transposed, 0.0, sum.view);
  EXPECT_EQ(sum(2, 1), 0);
}

}  // namespace
}  // namespace sonde::dense
