// SPDX-License-Identifier: Apache-2.0
// Items are floating-point operations: the rate is to be compared with that of `product`.
#include "sonde/engine/math/dense/cholesky.h"

#include <benchmark/benchmark.h>

#include <algorithm>

#include "sonde/engine/math/dense/test_matrices.h"

namespace {

namespace dense = sonde::dense;
using dense::Form;
using dense::testing::fill;
using dense::testing::Owned;
using dense::testing::positive_definite;
using sonde::Index;

template <class T>
struct Problem {
  explicit Problem(Index n)
      : a(positive_definite<T>(n, 1)),
        r(n, n, 0),
        inverses(n, dense::inverse_columns(n), 0),
        b(n, 2 * n, 0),
        c(n, n, 0),
        scratch(static_cast<std::size_t>(2 * n * dense::largest_block)),
        factor{r.view, inverses.view} {
    fill(b.view, 2);
    fill(c.view, 3);
    reset();
    if (!dense::factorise(factor, std::span<T>(scratch))) std::abort();
  }
  void reset() {
    for (Index i = 0; i < r.rows(); ++i) std::copy_n(&a(i, 0), r.columns(), &r(i, 0));
  }
  /// Else the numbers vanish. A percent of the solve.
  void refill() { std::copy_n(b.elements.data(), c.elements.size(), c.elements.data()); }
  Owned<T> a, r, inverses, b, c;
  std::vector<T> scratch;
  dense::Cholesky<T> factor;
};

void count(benchmark::State& state, double flops) {
  state.SetItemsProcessed(static_cast<std::int64_t>(flops * static_cast<double>(state.iterations())));
}

template <class T>
void product(benchmark::State& state) {
  const Index n = state.range(0);
  Problem<T> p(n);
  for (auto _ : state) dense::multiply(T{1}, p.c.view, Form::plain, p.a.view, Form::plain, T{0}, p.r.view);
  count(state, 2.0 * static_cast<double>(n * n * n));
}

template <class T>
void symmetric_product(benchmark::State& state) {
  const Index n = state.range(0);
  Problem<T> p(n);
  for (auto _ : state) dense::multiply_symmetric(T{1}, p.c.view, Form::transposed, T{0}, p.r.view);
  count(state, static_cast<double>(n * n * n));
}

template <class T>
void cholesky_by_library(benchmark::State& state) {
  const Index n = state.range(0);
  Problem<T> p(n);
  for (auto _ : state) {
    p.reset();
    benchmark::DoNotOptimize(dense::factorise_cholesky(p.r.view));
  }
  count(state, static_cast<double>(n * n * n) / 3);
}

template <class T>
void cholesky_by_blocks(benchmark::State& state) {
  const Index n = state.range(0);
  Problem<T> p(n);
  for (auto _ : state) {
    p.reset();
    benchmark::DoNotOptimize(dense::factorise(p.factor, std::span<T>(p.scratch)));
  }
  count(state, static_cast<double>(n * n * n) / 3);
}

template <class T>
void solve_by_library(benchmark::State& state) {
  const Index n = state.range(0);
  Problem<T> p(n);
  for (auto _ : state) {
    p.refill();
    dense::solve_triangular(p.r.view, p.c.view);
  }
  count(state, static_cast<double>(n * n * n));
}

template <class T>
void solve_by_blocks(benchmark::State& state) {
  const Index n = state.range(0);
  Problem<T> p(n);
  for (auto _ : state) {
    p.refill();
    dense::solve_lower(p.factor, p.c.view, std::span<T>(p.scratch));
  }
  count(state, static_cast<double>(n * n * n));
}

#define SIZES ->Arg(212)->Arg(312)->Arg(480)->Unit(benchmark::kMicrosecond)
BENCHMARK(product<double>) SIZES;
BENCHMARK(symmetric_product<double>) SIZES;
BENCHMARK(cholesky_by_library<double>) SIZES;
BENCHMARK(cholesky_by_blocks<double>) SIZES;
BENCHMARK(solve_by_library<double>) SIZES;
BENCHMARK(solve_by_blocks<double>) SIZES;
BENCHMARK(product<float>) SIZES;
BENCHMARK(symmetric_product<float>) SIZES;
BENCHMARK(cholesky_by_blocks<float>) SIZES;
BENCHMARK(solve_by_blocks<float>) SIZES;

}  // namespace
