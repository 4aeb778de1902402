// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <utility>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/correct/centre.h"

/// Diffraction patterns of known shape.
namespace sonde::testing {

/// A pattern, dark at first.
struct Image {
  Index rows, cols;
  std::vector<double> value;

  Image(Index rows_, Index cols_) : rows(rows_), cols(cols_), value(static_cast<std::size_t>(rows_ * cols_), 0) {}
  double& operator()(Index row, Index col) { return value[static_cast<std::size_t>(row * cols + col)]; }
  [[nodiscard]] View<const double, 2> view() const { return {value.data(), rows, cols}; }
  [[nodiscard]] stem::Centre centre(stem::CentreMethod method = stem::CentreMethod::edge,
                                    std::vector<std::uint8_t> good = {}) const {
    return stem::find_centre(view(), good, method);
  }
};

/// Fraction of every pixel covered by an ellipse, from 16 x 16 samples.
inline Image ellipse(Index rows, Index cols, double row, double col, double down, double across) {
  Image image(rows, cols);
  constexpr int n = 16;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          const double y = (static_cast<double>(r) + (i + 0.5) / n - 0.5 - row) / down;
          const double x = (static_cast<double>(c) + (j + 0.5) / n - 0.5 - col) / across;
          if (x * x + y * y < 1) image(r, c) += 1.0 / (n * n);
        }
  return image;
}

inline Image disk(Index rows, Index cols, double row, double col, double radius) {
  return ellipse(rows, cols, row, col, radius, radius);
}

/// Poisson counts of an image scaled to `counts` in all.
inline Image poisson(Image image, double counts, std::mt19937_64& random) {
  double sum = 0;
  for (const double value : image.value) sum += value;
  for (double& value : image.value)
    value = value == 0 ? 0 : static_cast<double>(std::poisson_distribution<int>(value / sum * counts)(random));
  return image;
}

}  // namespace sonde::testing
