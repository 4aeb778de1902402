// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/regularisation.h"

#include <array>
#include <cassert>
#include <cmath>

namespace sonde::maxwell {
namespace {

/// The gradient of a field at each cell; components without a neighbour are 0.
struct Slopes {
  const CellGrid& grid;
  std::array<std::size_t, 3> strides;

  explicit Slopes(const CellGrid& of)
      : grid(of),
        strides{static_cast<std::size_t>(of.cells[1] * of.cells[2]), static_cast<std::size_t>(of.cells[2]), 1} {}
  [[nodiscard]] std::array<double, 3> of(std::span<const double> field, const Triple& at, std::size_t cell) const {
    std::array<double, 3> slope{};
    for (std::size_t a = 0; a < 3; ++a)
      if (at[a] + 1 < grid.cells[a]) slope[a] = (field[cell + strides[a]] - field[cell]) / grid.spacing[a];
    return slope;
  }
  /// The transpose of of().
  void add(const std::array<double, 3>& by_slope, const Triple& at, std::size_t cell, std::span<double> to) const {
    for (std::size_t a = 0; a < 3; ++a)
      if (at[a] + 1 < grid.cells[a]) {
        to[cell + strides[a]] += by_slope[a] / grid.spacing[a];
        to[cell] -= by_slope[a] / grid.spacing[a];
      }
  }
};

double squared(const std::array<double, 3>& slope) {
  return slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];
}

/// The integral of density(|grad m|^2), which returns value and derivative by |grad m|^2.
template <class Density>
double integrate(const CellGrid& grid, std::span<const double> field, double weight, std::span<double> gradient,
                 const Density& density) {
  assert(static_cast<Index>(field.size()) == grid.count() && field.size() == gradient.size());
  const Slopes slopes(grid);
  const double scale = weight * grid.cell_volume();
  double sum = 0;
  for_each_cell(grid.cells, [&](const Triple& at, std::size_t cell) {
    std::array<double, 3> slope = slopes.of(field, at, cell);
    const auto [value, derivative] = density(squared(slope));
    sum += value;
    for (double& each : slope) each *= scale * derivative * 2;
    slopes.add(slope, at, cell, gradient);
  });
  return scale * sum;
}

struct Density {
  double value, derivative;
};

}  // namespace

double total_variation(const CellGrid& grid, std::span<const double> field, double epsilon, double weight,
                       std::span<double> gradient) {
  return integrate(grid, field, weight, gradient, [&](double slope2) {
    const double length = std::sqrt(slope2 + epsilon * epsilon);
    // length - epsilon without cancellation.
    return Density{slope2 / (length + epsilon), 1 / (2 * length)};
  });
}

double tikhonov(const CellGrid& grid, std::span<const double> field, double weight, std::span<double> gradient) {
  return integrate(grid, field, weight, gradient, [](double slope2) { return Density{slope2 / 2, 0.5}; });
}

void total_variation_curvature(const CellGrid& grid, std::span<const double> field, double epsilon, double weight,
                               std::span<const double> direction, std::span<double> product) {
  const Slopes slopes(grid);
  const double scale = weight * grid.cell_volume();
  for_each_cell(grid.cells, [&](const Triple& at, std::size_t cell) {
    std::array<double, 3> slope = slopes.of(direction, at, cell);
    const double length = std::sqrt(squared(slopes.of(field, at, cell)) + epsilon * epsilon);
    for (double& each : slope) each *= scale / length;
    slopes.add(slope, at, cell, product);
  });
}

}  // namespace sonde::maxwell
