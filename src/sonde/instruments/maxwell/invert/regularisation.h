// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/instruments/maxwell/invert/cell_grid.h"

namespace sonde::maxwell {

// Integrals over a field on cells, with differences between neighbours over their distance for the gradient, and the
// cells at the high end of an axis without one along it. Each returns `weight` times the integral and adds the exact
// derivative of that to `gradient`.

/// Total variation, smoothed and isotropic: the integral of sqrt(|grad m|^2 + epsilon^2) - epsilon (Rudin, Osher and
/// Fatemi 1992, Physica D 60, 259). epsilon > 0, in units of the field per metre: gradients below it count as smooth.
double total_variation(const CellGrid& grid, std::span<const double> field, double epsilon, double weight,
                       std::span<double> gradient);

/// Tikhonov's of first order: the integral of |grad m|^2 / 2.
double tikhonov(const CellGrid& grid, std::span<const double> field, double weight, std::span<double> gradient);

/// Adds to `product` the matrix of total variation with its denominators held as they are at the field (Vogel and Oman
/// 1996, SIAM J. Sci. Comput. 17, 227), positive semi-definite in place of the Hessian, times a direction. That of
/// tikhonov() is its gradient at the direction.
void total_variation_curvature(const CellGrid& grid, std::span<const double> field, double epsilon, double weight,
                               std::span<const double> direction, std::span<double> product);

}  // namespace sonde::maxwell
