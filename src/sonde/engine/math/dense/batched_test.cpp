// SPDX-License-Identifier: Apache-2.0
// Operations on batches against those on one matrix, on every device.
#include "sonde/engine/math/dense/batched.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/math/dense/batched_device.h"
#include "sonde/engine/math/dense/batched_products.h"
#include "sonde/engine/math/dense/test_matrices.h"
#include "tests/support/devices.h"

namespace sonde::dense {
namespace {

using testing::fill;
using testing::Owned;
using testing::positive_definite;

constexpr Index problems = 3;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// A batch on the host, inside of wider matrices: rows and matrices are apart.
struct Host {
  Host(Index rows, Index columns, std::uint64_t seed)
      : elements(static_cast<std::size_t>(problems * (rows + 1) * (columns + 2)), 0.5),
        view(elements.data(), problems, rows, columns) {
    view.stride[1] = columns + 2;
    view.stride[0] = (rows + 1) * (columns + 2);
    for (Index p = 0; p < problems; ++p) fill(view[p], seed + static_cast<std::uint64_t>(p));
  }
  Host(const Host& other) : elements(other.elements), view(other.view) { view.data = elements.data(); }
  Host& operator=(const Host&) = delete;

  /// The same window on the device's copy of all elements.
  Batch on(BatchedAlgebra& algebra, Array& storage) const {
    storage = Array::from(elements, {static_cast<Index>(elements.size())})
                  .copy_to(algebra.stream().device(), algebra.stream());
    Batch there = view;
    there.data = static_cast<double*>(storage.data());
    return there;
  }
  void back(BatchedAlgebra& algebra, const Array& storage) {
    algebra.stream().copy(elements.data(), storage.data(), elements.size() * sizeof(double));
    algebra.stream().synchronise();
  }
  std::vector<double> elements;
  Batch view;
};

class BatchedOnEachDevice : public sonde::testing::EachDevice {};

TEST_P(BatchedOnEachDevice, ProductsAreThoseOfEachProblem) {
  BatchedAlgebra algebra(device());
  for (const auto& [rows, columns, inner] : {std::array<Index, 3>{5, 7, 4}, {1, 1, 1}, {41, 2, 40}, {3, 4, 0}})
    for (const Form form_a : {Form::plain, Form::transposed})
      for (const Form form_b : {Form::plain, Form::transposed})
        for (const bool shares : {false, true}) {
          Host a = form_a == Form::plain ? Host(rows, inner, 1) : Host(inner, rows, 1);
          const Host b = form_b == Form::plain ? Host(inner, columns, 5) : Host(columns, inner, 5);
          Host c(rows, columns, 9), expected = c;
          if (shares) a.view.stride[0] = 0;
          for (Index p = 0; p < problems; ++p)
            multiply(-1.5, a.view[p], form_a, b.view[p], form_b, 0.5, expected.view[p]);
          Array at_a, at_b, at_c;
          const Batch on_a = a.on(algebra, at_a), on_b = b.on(algebra, at_b), on_c = c.on(algebra, at_c);
          algebra.multiply(-1.5, on_a, form_a, on_b, form_b, 0.5, on_c);
          c.back(algebra, at_c);
          // Everything around the matrices stays as it was, too.
          for (std::size_t i = 0; i < c.elements.size(); ++i)
            ASSERT_NEAR(c.elements[i], expected.elements[i], 4 * epsilon * static_cast<double>(inner + 1));
        }
}

/// The largest difference of products of float32 from those of float64, for elements of sums of `inner` in [-1, 1].
double float_product_error(Device device, FloatProducts how) {
  constexpr Index rows = 9, columns = 11, inner = 40;
  const Host a(rows, inner, 1), b(inner, columns, 5);
  Host c(rows, columns, 9);
  std::vector<float> on_host;
  for (const Host* each : {&a, &b, static_cast<const Host*>(&c)})
    on_host.insert(on_host.end(), each->elements.begin(), each->elements.end());
  BatchedAlgebra algebra(device, how);
  Array all = Array::from(on_host, {static_cast<Index>(on_host.size())}).copy_to(device, algebra.stream());
  auto* data = static_cast<float*>(all.data());
  const auto next = [&data](const Host& of) {
    View<float, 3> view(data, of.view.extent[0], of.view.extent[1], of.view.extent[2]);
    std::copy(of.view.stride, of.view.stride + 3, view.stride);
    data += of.elements.size();
    return view;
  };
  const View<float, 3> on_a = next(a), on_b = next(b), on_c = next(c);
  algebra.multiply(2.0F, on_a, Form::plain, on_b, Form::plain, 1.0F, on_c);
  algebra.stream().copy(on_host.data(), all.data(), on_host.size() * sizeof(float));
  algebra.stream().synchronise();
  for (Index p = 0; p < problems; ++p) multiply(2, a.view[p], Form::plain, b.view[p], Form::plain, 1, c.view[p]);
  double worst = 0;
  const std::size_t first = a.elements.size() + b.elements.size();
  for (std::size_t i = 0; i < c.elements.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(on_host[first + i]) - c.elements[i]));
  return worst;
}

TEST_P(BatchedOnEachDevice, ProductsOfFloatsHaveTheirPrecision) {
  // Each of 40 factors and sums rounds by 2^-24 of at most 1, times 2.
  EXPECT_LT(float_product_error(device(), FloatProducts::f32), 40 * 2 * 0x1p-23);
}

TEST_P(BatchedOnEachDevice, ProductsInTf32RoundTheirFactors) {
  // Two factors of at most 1 lose what is below 2^-10 each.
  const double error = float_product_error(device(), FloatProducts::tf32);
  EXPECT_LT(error, 40 * 2 * 2 * 0x1p-10);
  if (!device().is_cpu()) {
    EXPECT_GT(error, 0x1p-14);
  }
}

TEST_P(BatchedOnEachDevice, CombinesWithFactorsOfProblemAndColumn) {
  BatchedAlgebra algebra(device());
  const Host from(50, 47, 3);  // more than a thread block's share
  Host to(50, 47, 7), factors(1, 47, 11);
  const Host before = to;
  Array at_from, at_to, at_factors;
  const Batch on_from = from.on(algebra, at_from), on_to = to.on(algebra, at_to),
              on_factors = factors.on(algebra, at_factors);
  Factors by(on_factors.data, problems, Index{47});
  by.stride[0] = on_factors.stride[0];
  algebra.combine(2, by, on_from, -1, on_to);
  to.back(algebra, at_to);
  for (Index p = 0; p < problems; ++p)
    for (Index i = 0; i < 50; ++i)
      for (Index j = 0; j < 47; ++j)
        ASSERT_NEAR(to.view(p, i, j), 2 * factors.view(p, 0, j) * from.view(p, i, j) - before.view(p, i, j),
                    4 * epsilon);
}

TEST_P(BatchedOnEachDevice, CombinesTransposedSharedAndNothing) {
  BatchedAlgebra algebra(device());
  const Host from(4, 6, 3);
  Host to(6, 4, 7);
  Array at_from, at_to;
  const Batch on_from = from.on(algebra, at_from), on_to = to.on(algebra, at_to);
  algebra.combine(1, {}, transposed(shared(on_from[1], problems)), 0, on_to);
  to.back(algebra, at_to);
  for (Index p = 0; p < problems; ++p)
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 4; ++j) EXPECT_EQ(to.view(p, i, j), from.view(1, j, i));
  algebra.combine(0, {}, {}, 0, on_to);
  to.back(algebra, at_to);
  EXPECT_EQ(to.view(2, 5, 3), 0);
  algebra.combine(1, {}, part(on_from, 0, 4, 0, 0), 0, part(on_from, 0, 4, 6, 0));  // no columns
}

TEST_P(BatchedOnEachDevice, AddsToDiagonalsBesideTheMainOne) {
  BatchedAlgebra algebra(device());
  for (const Index offset : {0, 1, -1}) {
    Host to(4, 5, 7), values(1, 5, 11);
    const Host before = to;
    Array at_to, at_values;
    const Batch on_to = to.on(algebra, at_to), on_values = values.on(algebra, at_values);
    Factors of_each(on_values.data, problems, Index{5});
    of_each.stride[0] = on_values.stride[0];
    algebra.add_to_diagonal(3, of_each, offset, on_to);
    to.back(algebra, at_to);
    for (Index p = 0; p < problems; ++p)
      for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 5; ++j) {
          const double added = i - j == offset ? 3 * values.view(p, 0, std::min(i, j)) : 0;
          EXPECT_NEAR(to.view(p, i, j), before.view(p, i, j) + added, 4 * epsilon) << offset;
        }
  }
}

/// Positive definite matrices of a size, each other.
Host positive(Index n) {
  Host made(n, n, 0);
  for (Index p = 0; p < problems; ++p) {
    const Owned<double> each = positive_definite<double>(n, static_cast<std::uint64_t>(3 + p));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) made.view(p, i, j) = each.view(i, j);
  }
  return made;
}

struct Failures {
  explicit Failures(BatchedAlgebra& algebra)
      : storage(Array::from(std::vector<Index>(problems, -1), {problems})
                    .copy_to(algebra.stream().device(), algebra.stream())) {}
  View<Index, 1> view() { return storage.view<Index, 1>(); }
  std::vector<Index> told(BatchedAlgebra& algebra) {
    std::vector<Index> made(problems);
    algebra.stream().copy(made.data(), storage.data(), problems * sizeof(Index));
    algebra.stream().synchronise();
    return made;
  }
  Array storage;
};

TEST_P(BatchedOnEachDevice, FactorsAndSolvesAsForOneMatrix) {
  BatchedAlgebra algebra(device());
  for (const Index n :
       {Index{0}, Index{1}, Index{2}, largest_block - 1, largest_block, largest_block + 1, 2 * largest_block + 5}) {
    SCOPED_TRACE(n);
    const Index width = inverse_columns(n);
    Host a = positive(n), b(n, 3, 21);
    const Host inverses(n, width, 1), scratch(std::max<Index>(n, width), std::max<Index>(width, 3), 1);
    Array at_a, at_b, at_inverses, at_scratch;
    const Batch on_b = b.on(algebra, at_b), on_scratch = scratch.on(algebra, at_scratch);
    const BatchedCholesky factor{a.on(algebra, at_a), inverses.on(algebra, at_inverses)};
    Failures failed(algebra);
    algebra.factorise(factor, on_scratch, failed.view(), 7);
    EXPECT_EQ(failed.told(algebra), std::vector<Index>(problems, -1));
    // Rounding of n products of entries up to sqrt(2 n), condition below ten.
    const double tolerance = 40 * static_cast<double>(n + 1) * epsilon;
    for (Index p = 0; p < problems; ++p) {
      Owned<double> r = positive_definite<double>(n, static_cast<std::uint64_t>(3 + p)), own(n, width);
      std::vector<double> work(static_cast<std::size_t>(width * std::max<Index>(n, 3)));
      const Cholesky<double> one{r.view, own.view};
      ASSERT_TRUE(factorise(one, std::span<double>(work)));
      if (p == 0) a.back(algebra, at_a);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j) ASSERT_NEAR(a.view(p, i, j), r(i, j), tolerance);
    }
    Host expected = b;
    for (const Form form : {Form::plain, Form::transposed}) {
      algebra.solve_lower(factor, form, on_b, on_scratch);
      b.back(algebra, at_b);
      for (Index p = 0; p < problems; ++p)
        for (Index c = 0; c < 3; ++c) {
          std::vector<double> x(static_cast<std::size_t>(n));
          for (Index i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = expected.view(p, i, c);
          solve_triangular(ConstMatrix<double>(a.view[p]), form, std::span<double>(x));
          for (Index i = 0; i < n; ++i) {
            expected.view(p, i, c) = x[static_cast<std::size_t>(i)];
            ASSERT_NEAR(b.view(p, i, c), x[static_cast<std::size_t>(i)], tolerance);
          }
        }
    }
  }
}

TEST_P(BatchedOnEachDevice, WhatIsNotPositiveDefiniteIsToldOfItsProblemAlone) {
  BatchedAlgebra algebra(device());
  const Index n = largest_block + 9;
  Host a = positive(n);
  a.view(0, 0, 0) = std::numeric_limits<double>::quiet_NaN();
  a.view(2, n - 1, n - 1) = -1;
  const Host inverses(n, largest_block, 1), scratch(n, largest_block, 1);
  Array at_a, at_inverses, at_scratch;
  Failures failed(algebra);
  algebra.factorise({a.on(algebra, at_a), inverses.on(algebra, at_inverses)}, scratch.on(algebra, at_scratch),
                    failed.view(), 7);
  EXPECT_EQ(failed.told(algebra), (std::vector<Index>{7, -1, 7}));
  // The first failure stays.
  a.view(1, 3, 3) = 0;
  algebra.factorise({a.on(algebra, at_a), inverses.on(algebra, at_inverses)}, scratch.on(algebra, at_scratch),
                    failed.view(), 5);
  EXPECT_EQ(failed.told(algebra), (std::vector<Index>{7, 5, 7}));
}

INSTANTIATE_EACH_DEVICE(BatchedOnEachDevice);

TEST(BatchedProducts, AreAskedForByColumns) {
  for (const auto& [rows, columns, inner] : {std::array<Index, 3>{5, 7, 4}, {1, 1, 1}, {3, 1, 2}, {1, 3, 2}})
    for (const Form form_a : {Form::plain, Form::transposed})
      for (const Form form_b : {Form::plain, Form::transposed}) {
        const Host a = form_a == Form::plain ? Host(rows, inner, 1) : Host(inner, rows, 1);
        const Host b = form_b == Form::plain ? Host(inner, columns, 5) : Host(columns, inner, 5);
        Host c(rows, columns, 9), expected = c;
        const ByColumns<double> asked = by_columns<double>(a.view, form_a, b.view, form_b, c.view);
        const auto element = [](const ByColumns<double>::Operand& of, Index p, Index i,
                                Index j) {  // of a column-major matrix
          return of.data[p * of.problem_step + (of.form == Form::plain ? i + j * of.step : j + i * of.step)];
        };
        for (Index p = 0; p < problems; ++p) {
          multiply(1, a.view[p], form_a, b.view[p], form_b, 0, expected.view[p]);
          for (Index i = 0; i < asked.rows; ++i)
            for (Index j = 0; j < asked.columns; ++j) {
              double sum = 0;
              for (Index k = 0; k < asked.inner; ++k)
                sum += element(asked.first, p, i, k) * element(asked.second, p, k, j);
              c.elements[static_cast<std::size_t>(p * asked.problem_step + i + j * asked.step)] = sum;
            }
        }
        for (std::size_t i = 0; i < c.elements.size(); ++i)
          ASSERT_NEAR(c.elements[i], expected.elements[i], 4 * epsilon * static_cast<double>(inner + 1));
      }
}

TEST(BatchedKernels, DoNotDependOnTheOrderOfTheirSteps) {
  const Index n = 11;
  std::vector<std::vector<double>> found;
  for (const StepOrder order : {StepOrder::forwards, StepOrder::backwards}) {
    Host a = positive(n), inverse(n, n, 1), to(n, n, 2);
    std::vector<Index> failed(problems, -1);
    device::FactoriseAndInvert factorise;
    factorise.a = a.view;
    factorise.inverse = inverse.view;
    factorise.failed = View<Index, 1>(failed.data(), problems);
    run_serially({.blocks = 2, .scratch_bytes = factorise.scratch_bytes()}, factorise, order);
    device::Combine combine;
    combine.from = a.view;
    combine.beta = 2;
    combine.to = to.view;
    run_serially({.blocks = 2}, combine, order);
    device::AddToDiagonal add;
    add.values = View<const double, 2>(a.view.data, problems, n);
    add.offset = 1;
    add.to = to.view;
    run_serially({.blocks = 2}, add, order);
    found.push_back(a.elements);
    found.back().insert(found.back().end(), inverse.elements.begin(), inverse.elements.end());
    found.back().insert(found.back().end(), to.elements.begin(), to.elements.end());
  }
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace sonde::dense
