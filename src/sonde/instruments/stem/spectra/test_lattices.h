// SPDX-License-Identifier: Apache-2.0
// For tests: scans of lattices of round spots, and their load.
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/lattice/basis.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/pass/memory_source.h"

namespace sonde::stem::testing {

/// Spots of a Gaussian of `width` px at q0 + h g1 + k g2 on the whole detector, each of another height, 1 on average,
/// decided by its indices.
struct SpotLattice {
  Index rows = 40, cols = 56;
  Basis basis{};
  double q0_x = 0, q0_y = 0, width = 1;

  [[nodiscard]] double at(double x, double y) const {
    double sum = 0;
    const Coordinates middle = coordinates(basis, x - q0_x, y - q0_y);
    for (int h = -1; h <= 2; ++h)
      for (int k = -1; k <= 2; ++k) {
        const double i = std::floor(middle.h) + h, j = std::floor(middle.k) + k;
        const double dx = x - q0_x - i * basis.g1_x - j * basis.g2_x;
        const double dy = y - q0_y - i * basis.g1_y - j * basis.g2_y;
        const double height = 1 + 0.5 * std::sin(12.9 * i + 78.2 * j + 1);
        sum += height * std::exp(-(dx * dx + dy * dy) / (2 * width * width));
      }
    return sum;
  }
  /// (rows, cols)
  [[nodiscard]] std::vector<double> drawn() const {
    std::vector<double> made;
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col) made.push_back(at(static_cast<double>(col), static_cast<double>(row)));
    return made;
  }
};

template <class T>
Dataset loaded(Index scan_rows, Index scan_cols, Index rows, Index cols, std::vector<T> frames,
               const Calibration& calibration = {}) {
  auto source = std::make_unique<MemorySource<T>>(scan_rows, scan_cols, rows, cols, std::move(frames));
  source->acquisition_to_change().calibration = calibration;
  LoadOptions options;
  options.layout = LayoutChoice::file;
  options.hot_pixels = BadPixelAction::none;
  return load(std::move(source), options, Budget(std::size_t{1} << 30, "test"));
}

}  // namespace sonde::stem::testing
