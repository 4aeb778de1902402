// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/regularisation.h"

#include <cassert>
#include <cmath>

namespace sonde::maxwell {
namespace {

/// The integral of density(|grad m|^2), which returns value and derivative by |grad m|^2.
template <class Density>
double integrate(const CellGrid& grid, std::span<const double> field, double weight, std::span<double> gradient,
                 const Density& density) {
  assert(static_cast<Index>(field.size()) == grid.count() && field.size() == gradient.size());
  const std::array<std::size_t, 3> strides{static_cast<std::size_t>(grid.cells[1] * grid.cells[2]),
                                           static_cast<std::size_t>(grid.cells[2]), 1};
  const double scale = weight * grid.cell_volume();
  double sum = 0;
  for_each_cell(grid.cells, [&](const Triple& at, std::size_t cell) {
    std::array<double, 3> slope{};
    double squared = 0;
    for (std::size_t a = 0; a < 3; ++a)
      if (at[a] + 1 < grid.cells[a]) {
        slope[a] = (field[cell + strides[a]] - field[cell]) / grid.spacing[a];
        squared += slope[a] * slope[a];
      }
    const auto [value, derivative] = density(squared);
    sum += value;
    for (std::size_t a = 0; a < 3; ++a)
      if (at[a] + 1 < grid.cells[a]) {
        const double change = scale * derivative * 2 * slope[a] / grid.spacing[a];
        gradient[cell + strides[a]] += change;
        gradient[cell] -= change;
      }
  });
  return scale * sum;
}

struct Density {
  double value, derivative;
};

}  // namespace

double total_variation(const CellGrid& grid, std::span<const double> field, double epsilon, double weight,
                       std::span<double> gradient) {
  return integrate(grid, field, weight, gradient, [&](double squared) {
    const double length = std::sqrt(squared + epsilon * epsilon);
    // length - epsilon without cancellation.
    return Density{squared / (length + epsilon), 1 / (2 * length)};
  });
}

double tikhonov(const CellGrid& grid, std::span<const double> field, double weight, std::span<double> gradient) {
  return integrate(grid, field, weight, gradient, [](double squared) { return Density{squared / 2, 0.5}; });
}

}  // namespace sonde::maxwell
