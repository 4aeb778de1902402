// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/medium.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

Index model_count(const Grid& grid) { return grid.cells(Axis::z) * grid.cells(Axis::y) * grid.cells(Axis::x); }

void require_numbers(const std::vector<double>& values, const char* what, const Grid& grid, bool positive,
                     bool infinite) {
  if (static_cast<Index>(values.size()) != model_count(grid))
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} elements, the model has {}", what, values.size(), model_count(grid)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    const bool fits = (positive ? v > 0 : v >= 0) && (std::isfinite(v) || (infinite && v > 0 && !std::isnan(v)));
    if (fits) continue;
    const auto at = static_cast<Index>(i);
    const Index nx = grid.cells(Axis::x), ny = grid.cells(Axis::y);
    throw Error(ErrorKind::bad_input,
                fmt::format("{} = {} at [{}, {}, {}] (z, y, x): expected {} 0{}", what, v, at / (nx * ny), at / nx % ny,
                            at % nx, positive ? "above" : "at least", infinite ? "" : ", finite"));
  }
}

/// Calls body(element of the model, weight) for the elements that a node takes: one, or the cells around it.
template <class Body>
void for_each_source(Component c, const Triple& at, MaterialLocation location, const Grid& grid, const Body& body) {
  Triple first{}, last{};
  double weight = 1;
  for (const Axis axis : all_axes) {
    const std::size_t a = dimension(axis);
    const bool between = location == MaterialLocation::cell && grid.has(axis) && !is_half(c, axis);
    first[a] = at[a] - grid.low(axis) - (between ? 1 : 0);
    last[a] = at[a] - grid.low(axis);
    if (between) weight /= 2;
  }
  const auto inside = [&](Index i, Axis axis) { return std::clamp<Index>(i, 0, grid.cells(axis) - 1); };
  for (Index k = first[0]; k <= last[0]; ++k)
    for (Index j = first[1]; j <= last[1]; ++j)
      for (Index i = first[2]; i <= last[2]; ++i)
        body(static_cast<std::size_t>((inside(k, Axis::z) * grid.cells(Axis::y) + inside(j, Axis::y)) *
                                          grid.cells(Axis::x) +
                                      inside(i, Axis::x)),
             weight);
}

bool in_layer(const Triple& at, const Grid& grid) {
  return std::any_of(all_axes.begin(), all_axes.end(), [&](Axis axis) {
    const Index i = at[dimension(axis)] - grid.low(axis);
    return i < 0 || i >= grid.cells(axis);
  });
}

std::vector<double> at_nodes(const std::vector<double>& values, Component c, MaterialLocation location,
                             PaddingGradient padding, const Grid& grid) {
  if (values.empty()) return {};
  std::vector<double> made(static_cast<std::size_t>(grid.count()));
  for_each_node(grid, [&](const Triple& at, std::size_t node) {
    if (padding == PaddingGradient::frozen && in_layer(at, grid)) return;
    double sum = 0;
    for_each_source(c, at, location, grid, [&](std::size_t i, double weight) { sum += weight * values[i]; });
    made[node] = sum;
  });
  return made;
}

void add_from_nodes(const std::vector<double>& gradient, Component c, MaterialLocation location,
                    PaddingGradient padding, const Grid& grid, std::vector<double>& sum) {
  if (gradient.empty()) return;
  sum.resize(static_cast<std::size_t>(model_count(grid)));
  for_each_node(grid, [&](const Triple& at, std::size_t node) {
    if (padding == PaddingGradient::frozen && in_layer(at, grid)) return;
    for_each_source(c, at, location, grid, [&](std::size_t i, double weight) { sum[i] += weight * gradient[node]; });
  });
}

}  // namespace

void require_model(const Model& model, const Grid& grid) {
  require_numbers(model.eps_r, "eps_r", grid, true, false);
  require_numbers(model.sigma, "sigma", grid, false, true);
  if (!model.mu_r.empty()) require_numbers(model.mu_r, "mu_r", grid, true, false);
}

ComponentChange locate_change(const ModelChange& change, MaterialLocation location, PaddingGradient padding,
                              const Grid& grid) {
  ComponentChange made;
  for (const Component c : grid.components()) {
    if (is_electric(c)) {
      made.eps_r[place(c)] = at_nodes(change.eps_r, c, location, padding, grid);
      made.sigma[place(c)] = at_nodes(change.sigma, c, location, padding, grid);
      made.poles.resize(change.poles.size());
      for (std::size_t p = 0; p < change.poles.size(); ++p) {
        made.poles[p].deps[place(c)] = at_nodes(change.poles[p].deps, c, location, padding, grid);
        made.poles[p].tau[place(c)] = at_nodes(change.poles[p].tau, c, location, padding, grid);
      }
    } else {
      made.mu_r[place(c)] = at_nodes(change.mu_r, c, location, padding, grid);
    }
  }
  return made;
}

ModelChange gather_change(const ComponentChange& gradient, MaterialLocation location, PaddingGradient padding,
                          const Grid& grid) {
  ModelChange sum;
  for (const Component c : grid.components()) {
    const std::size_t i = place(c);
    if (is_electric(c)) {
      add_from_nodes(gradient.eps_r[i], c, location, padding, grid, sum.eps_r);
      add_from_nodes(gradient.sigma[i], c, location, padding, grid, sum.sigma);
      sum.poles.resize(gradient.poles.size());
      for (std::size_t p = 0; p < gradient.poles.size(); ++p) {
        add_from_nodes(gradient.poles[p].deps[i], c, location, padding, grid, sum.poles[p].deps);
        add_from_nodes(gradient.poles[p].tau[i], c, location, padding, grid, sum.poles[p].tau);
      }
    } else {
      add_from_nodes(gradient.mu_r[i], c, location, padding, grid, sum.mu_r);
    }
  }
  return sum;
}

ComponentMedium locate(const Model& model, const Grid& grid) {
  ComponentChange made =
      locate_change({model.eps_r, model.sigma, model.mu_r, {}}, model.location, PaddingGradient::exact, grid);
  for (const Component c : grid.components())
    if (!is_electric(c) && model.mu_r.empty()) made.mu_r[place(c)].assign(static_cast<std::size_t>(grid.count()), 1.0);
  return {std::move(made.eps_r), std::move(made.sigma), std::move(made.mu_r), {}};
}

}  // namespace sonde::maxwell
