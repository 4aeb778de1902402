// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/geometry/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

/// cos and sin of a step, 2 pi / n times 0 .. n - 1: exact in the sense that equal angles have equal values.
struct Circle {
  explicit Circle(Index n) : cosine(static_cast<std::size_t>(n)), sine(static_cast<std::size_t>(n)) {
    for (Index i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
      cosine[static_cast<std::size_t>(i)] = std::cos(angle);
      sine[static_cast<std::size_t>(i)] = std::sin(angle);
    }
  }
  std::vector<double> cosine, sine;
};

/// The places 0, m, 2 m, ... on a circle of n points.
struct Walk {
  Walk(int mode, Index points) : n(static_cast<std::size_t>(points)) {
    const Index turned = mode % points;
    stride = static_cast<std::size_t>(turned < 0 ? turned + points : turned);
  }
  void step() {
    at += stride;
    if (at >= n) at -= n;
  }
  std::size_t n, stride = 0, at = 0;
};

}  // namespace

void require_odd(const AngleGrid& grid) {
  for (const auto& [name, count] : {std::pair{"n_theta", grid.n_theta}, std::pair{"n_zeta", grid.n_zeta}})
    if (count < 1 || count % 2 == 0) {
      const Index next = count < 1 ? 1 : count + 1;
      throw Error(ErrorKind::bad_input, fmt::format("{} = {}: the count of angles must be odd", name, count))
          .hint(fmt::format("the next one is {}", next));
    }
}

bool Series::symmetric() const {
  return std::all_of(sine.begin(), sine.end(), [](double value) { return value == 0; });
}

double Series::cosine_of(Mode mode) const {
  const auto found = std::find(modes.begin(), modes.end(), mode);
  return found == modes.end() ? 0 : cosine[static_cast<std::size_t>(found - modes.begin())];
}

Mode Series::largest() const {
  Mode largest;
  for (const Mode& mode : modes) {
    largest.m = std::max(largest.m, std::abs(mode.m));
    largest.n = std::max(largest.n, std::abs(mode.n));
  }
  return largest;
}

SeriesOnGrid on_grid(const Series& series, const AngleGrid& grid, std::optional<Index> first_rows) {
  if (series.cosine.size() != series.modes.size() ||
      (!series.sine.empty() && series.sine.size() != series.modes.size()))
    throw Error(ErrorKind::internal, "a Fourier series whose lists differ in length");
  const Index rows = first_rows.value_or(grid.n_theta);
  const auto count = static_cast<std::size_t>(rows * grid.n_zeta), columns = static_cast<std::size_t>(grid.n_zeta);
  SeriesOnGrid made{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count)};
  const Circle poloidal(grid.n_theta), toroidal(grid.n_zeta);
  std::map<int, std::vector<std::size_t>> by_m;
  for (std::size_t k = 0; k < series.modes.size(); ++k) by_m[series.modes[k].m].push_back(k);

  // f = sum over m of even_m(zeta) cos(m theta) + odd_m(zeta) sin(m theta): the sum over n is done once per zeta.
  std::vector<double> even(columns), odd(columns), even_slope(columns), odd_slope(columns);
  for (const auto& [m, members] : by_m) {
    for (auto* list : {&even, &odd, &even_slope, &odd_slope}) std::fill(list->begin(), list->end(), 0.0);
    for (const std::size_t k : members) {
      const double c = series.cosine[k], s = series.sine.empty() ? 0 : series.sine[k];
      if (c == 0 && s == 0) continue;
      const double n = series.modes[k].n * static_cast<double>(grid.periods);
      Walk walk(series.modes[k].n, grid.n_zeta);
      for (std::size_t j = 0; j < columns; ++j, walk.step()) {
        const double cosine = toroidal.cosine[walk.at], sine = toroidal.sine[walk.at];
        const double in_phase = c * cosine + s * sine, quadrature = s * cosine - c * sine;
        even[j] += in_phase;
        odd[j] += quadrature;
        even_slope[j] += n * quadrature;
        odd_slope[j] -= n * in_phase;
      }
    }
    Walk walk(m, grid.n_theta);
    for (Index i = 0; i < rows; ++i, walk.step()) {
      const double cosine = poloidal.cosine[walk.at], sine = poloidal.sine[walk.at];
      const auto row = static_cast<std::size_t>(i) * columns;
      for (std::size_t j = 0; j < columns; ++j) {
        made.value[row + j] += even[j] * cosine + odd[j] * sine;
        made.by_theta[row + j] += m * (odd[j] * cosine - even[j] * sine);
        made.by_zeta[row + j] += even_slope[j] * cosine + odd_slope[j] * sine;
      }
    }
  }
  return made;
}

}  // namespace sonde::neoclassical
