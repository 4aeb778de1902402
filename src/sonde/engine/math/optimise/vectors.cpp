// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/vectors.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "sonde/engine/device/parallel.h"

namespace sonde {
namespace {

constexpr Index piece_size = 8192;

/// body(first, last) for pieces of fixed size.
template <class Body>
void by_pieces(std::size_t count, Body&& body) {
  const auto n = static_cast<Index>(count);
  parallel_for((n + piece_size - 1) / piece_size, 1, [&](Index first, Index last, Worker&) {
    for (Index p = first; p < last; ++p) body(p, p * piece_size, std::min(n, (p + 1) * piece_size));
  });
}

}  // namespace

template <class Real>
double dot(std::span<const Real> a, std::span<const Real> b) {
  assert(a.size() == b.size());
  std::vector<double> pieces((a.size() + piece_size - 1) / piece_size);
  by_pieces(a.size(), [&](Index p, Index first, Index last) {
    // Lanes of their own, because one sum after the other takes four times as long.
    constexpr Index lanes = 8;
    double sums[lanes] = {};
    for (Index i = first; i < last; i += lanes)
      for (Index k = 0; k < std::min(lanes, last - i); ++k) {
        const auto at = static_cast<std::size_t>(i + k);
        sums[k] += static_cast<double>(a[at]) * static_cast<double>(b[at]);
      }
    for (const double sum : sums) pieces[static_cast<std::size_t>(p)] += sum;
  });
  double total = 0;
  for (const double sum : pieces) total += sum;
  return total;
}

template <class Real>
void combine(double keep, std::span<Real> y, double fresh, std::span<const Real> x) {
  assert(y.size() == x.size());
  const auto a = static_cast<Real>(keep), b = static_cast<Real>(fresh);
  by_pieces(y.size(), [&](Index, Index first, Index last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) y[i] = a * y[i] + b * x[i];
  });
}

template double dot(std::span<const float>, std::span<const float>);
template double dot(std::span<const double>, std::span<const double>);
template void combine(double, std::span<float>, double, std::span<const float>);
template void combine(double, std::span<double>, double, std::span<const double>);

}  // namespace sonde
