// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sonde/instruments/maxwell/grid/component.h"
#include "sonde/instruments/maxwell/signal/interpolation.h"

namespace sonde::maxwell {

enum class Spline {
  linear,  ///< hat functions: bilinear in two dimensions
  cubic    ///< B-splines, twice smooth; coefficients, not values at nodes
};

/// Fields on cells by fewer numbers, at nodes every so many cells: node j at cell j * every. Weights of a cell are not
/// negative and their sum is 1, so that bounds on the numbers are bounds on the field; nodes beyond the ends count for
/// those at the ends. every = 1 with linear splines is the identity.
class CoarseGrid {
 public:
  /// Throws Error(bad_input) for an element of `every` below 1.
  CoarseGrid(const Triple& cells, const Triple& every, Spline spline);

  [[nodiscard]] Index count() const { return nodes_[0] * nodes_[1] * nodes_[2]; }
  [[nodiscard]] const Triple& nodes() const { return nodes_; }
  /// To the field, [z][y][x]; and the exact transpose, which sums.
  [[nodiscard]] std::vector<double> to_cells(std::span<const double> numbers) const;
  [[nodiscard]] std::vector<double> to_nodes(std::span<const double> field) const;
  /// Variances of the field, of numbers with these variances that do not depend on each other.
  [[nodiscard]] std::vector<double> variances(std::span<const double> of_numbers) const;

 private:
  template <class Body>
  void for_each_weight(const Body& body) const;

  Triple cells_{}, nodes_{};
  std::array<std::vector<std::vector<Tap>>, 3> taps_;  ///< [axis][cell]
};

}  // namespace sonde::maxwell
