// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"

namespace sonde::ptycho {

/// Fourier ring correlation of two images of the same thing, ring by ring from the zero frequency on.
struct RingCorrelation {
  std::vector<double> frequency;    ///< of the ring, in the inverse unit of the pixel size
  std::vector<double> correlation;  ///< |sum F1 conj F2| / sqrt(sum |F1|^2 sum |F2|^2)
  std::vector<double> half_bit;     ///< (0.2071 + 1.9102 / sqrt n) / (1.2071 + 0.9102 / sqrt n), van Heel & Schatz 2005
  std::vector<Index> pixels;        ///< n of the ring

  /// Where the correlation first falls below the threshold, between the rings by a straight line; no value when it
  /// does not.
  [[nodiscard]] std::optional<double> crossing() const;
  /// 1 / crossing().
  [[nodiscard]] std::optional<double> resolution() const;
  /// All of it, for reports.
  [[nodiscard]] Value to_value() const;
};

/// Of two complex images that are aligned already, usually transmissions in the field of view; edges are taken away by
/// a Hann window. Throws Error(bad_input) for sizes that differ or are below 4 pixels.
[[nodiscard]] RingCorrelation ring_correlation(View<const complex128, 2> a, View<const complex128, 2> b,
                                               double pixel_row = 1, double pixel_col = 1);

}  // namespace sonde::ptycho
