// SPDX-License-Identifier: Apache-2.0
// For the tests of this folder: series in a list, and what shows a transpose.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/math/random.h"

namespace sonde::testing {

/// Series of equal length, [series][sample].
struct SeriesList {
  Index count, samples;
  std::vector<double> values;

  SeriesList(Index series, Index length)
      : count(series), samples(length), values(static_cast<std::size_t>(series * length)) {}
  View<double, 2> view() { return {values.data(), count, samples}; }
  double& operator()(Index series, Index sample) { return values[static_cast<std::size_t>(series * samples + sample)]; }
};

inline SeriesList random_series(Index count, Index samples, std::uint64_t seed) {
  SeriesList series(count, samples);
  draw_normal({.seed = seed}, series.values);
  return series;
}

inline double dot(const SeriesList& a, const SeriesList& b) {
  return std::inner_product(a.values.begin(), a.values.end(), b.values.begin(), 0.0);
}

/// <A x, y> = <x, A^T y> to 1e-14 of |A x| |y|: sums of some hundred random products, each rounded at 1e-16.
template <class Map, class Transpose>
void expect_transposes(const SeriesList& x, const SeriesList& y, Map map, Transpose transpose) {
  SeriesList from = x, to = y, there(y.count, y.samples), back(x.count, x.samples);
  map(from.view(), there.view());
  transpose(to.view(), back.view());
  const double scale = std::sqrt(dot(there, there) * dot(y, y));
  ASSERT_GT(scale, 0);
  EXPECT_NEAR(dot(there, y), dot(x, back), 1e-14 * scale);
}

}  // namespace sonde::testing
