// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/geometry/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

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

std::size_t on_circle(int mode, Index step, Index n) {
  const Index turned = (mode * step) % n;
  return static_cast<std::size_t>(turned < 0 ? turned + n : turned);
}

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

SeriesOnGrid on_grid(const Series& series, const AngleGrid& grid) {
  if (series.cosine.size() != series.modes.size() ||
      (!series.sine.empty() && series.sine.size() != series.modes.size()))
    throw Error(ErrorKind::internal, "a Fourier series whose lists differ in length");
  const auto count = static_cast<std::size_t>(grid.count());
  SeriesOnGrid made{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count)};
  const Circle poloidal(grid.n_theta), toroidal(grid.n_zeta);
  for (std::size_t k = 0; k < series.modes.size(); ++k) {
    const auto [m, n] = series.modes[k];
    const double c = series.cosine[k], s = series.sine.empty() ? 0 : series.sine[k];
    if (c == 0 && s == 0) continue;
    std::size_t at = 0;
    for (Index i = 0; i < grid.n_theta; ++i) {
      const std::size_t a = on_circle(m, i, grid.n_theta);
      for (Index j = 0; j < grid.n_zeta; ++j, ++at) {
        const std::size_t b = on_circle(n, j, grid.n_zeta);
        const double cosine = poloidal.cosine[a] * toroidal.cosine[b] - poloidal.sine[a] * toroidal.sine[b];
        const double sine = poloidal.sine[a] * toroidal.cosine[b] + poloidal.cosine[a] * toroidal.sine[b];
        const double slope = s * cosine - c * sine;
        made.value[at] += c * cosine + s * sine;
        made.by_theta[at] += m * slope;
        made.by_zeta[at] += n * grid.periods * slope;
      }
    }
  }
  return made;
}

}  // namespace sonde::neoclassical
