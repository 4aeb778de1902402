// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/coarse_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/invert/cell_grid.h"

namespace sonde::maxwell {
namespace {

/// Weights of the nodes from j - 1 to j + 2 at t of the way from j to j + 1 (de Boor 1978, uniform knots).
std::array<double, 4> weights(Spline spline, double t) {
  if (spline == Spline::linear) return {0, 1 - t, t, 0};
  const double s = 1 - t;
  return {s * s * s / 6, (3 * t * t * t - 6 * t * t + 4) / 6, (3 * s * s * s - 6 * s * s + 4) / 6, t * t * t / 6};
}

std::vector<Tap> taps_of(Index cell, Index every, Index nodes, Spline spline) {
  const Index j = cell / every;
  const auto by = weights(spline, static_cast<double>(cell % every) / static_cast<double>(every));
  std::vector<Tap> taps;
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (by[i] == 0) continue;
    const Index node = std::clamp<Index>(j - 1 + static_cast<Index>(i), 0, nodes - 1);
    if (!taps.empty() && taps.back().index == node)
      taps.back().weight += by[i];
    else
      taps.push_back({node, by[i]});
  }
  return taps;
}

}  // namespace

CoarseGrid::CoarseGrid(const Triple& cells, const Triple& every, Spline spline) : cells_(cells) {
  for (std::size_t a = 0; a < 3; ++a) {
    if (every[a] < 1)
      throw Error(ErrorKind::bad_input, fmt::format("coarse grid: a node every {} cells; at least 1", every[a]));
    nodes_[a] = (cells[a] - 1 + every[a] - 1) / every[a] + 1;
    for (Index i = 0; i < cells[a]; ++i) taps_[a].push_back(taps_of(i, every[a], nodes_[a], spline));
  }
}

template <class Body>
void CoarseGrid::for_each_weight(const Body& body) const {
  for_each_cell(cells_, [&](const Triple& at, std::size_t cell) {
    for (const Tap& z : taps_[0][static_cast<std::size_t>(at[0])])
      for (const Tap& y : taps_[1][static_cast<std::size_t>(at[1])])
        for (const Tap& x : taps_[2][static_cast<std::size_t>(at[2])])
          body(cell, static_cast<std::size_t>((z.index * nodes_[1] + y.index) * nodes_[2] + x.index),
               z.weight * y.weight * x.weight);
  });
}

std::vector<double> CoarseGrid::to_cells(std::span<const double> numbers) const {
  assert(static_cast<Index>(numbers.size()) == count());
  std::vector<double> field(static_cast<std::size_t>(cells_[0] * cells_[1] * cells_[2]));
  for_each_weight([&](std::size_t cell, std::size_t node, double weight) { field[cell] += weight * numbers[node]; });
  return field;
}

std::vector<double> CoarseGrid::variances(std::span<const double> of_numbers) const {
  std::vector<double> field(static_cast<std::size_t>(cells_[0] * cells_[1] * cells_[2]));
  for_each_weight(
      [&](std::size_t cell, std::size_t node, double weight) { field[cell] += weight * weight * of_numbers[node]; });
  return field;
}

std::vector<double> CoarseGrid::to_nodes(std::span<const double> field) const {
  std::vector<double> numbers(static_cast<std::size_t>(count()));
  for_each_weight([&](std::size_t cell, std::size_t node, double weight) { numbers[node] += weight * field[cell]; });
  return numbers;
}

}  // namespace sonde::maxwell
