// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/stem/image/pixel_set.h"

namespace sonde::stem {

/// Radial prefix planes: C_k(r) = sum of planes(q, r) over the good pixels with d(q) < k, k = 0..K, d the distance from
/// the centre in pixels. Any annulus about that centre with whole radii is C_out - C_in: two plane reads, exactly.
/// Memory: R (K + 1) elements of u32 when no sum can pass 2^32, else u64.
class RadialPrefix {
 public:
  /// What build() will allocate for planes of this type, in bytes; reserve it before.
  static std::size_t bytes(Index positions, Index rows, Index cols, DType dtype, double centre_row, double centre_col);

  /// Reads every plane once. `good` (rows * cols, zero is bad) may be empty. Planes (rows * cols, R) of counts.
  static RadialPrefix build(Stream& stream, const Array& planes, Index rows, Index cols,
                            std::span<const std::uint8_t> good, double centre_row, double centre_col);

  /// A run of rings from <= d < to that is as near as possible to a set of pixels.
  struct Rings {
    Index from = 0, to = 0;
    Index difference = 0;  ///< good pixels in one of the two, but not in both
  };
  [[nodiscard]] Rings nearest(const PixelSet& pixels) const;

  /// The good pixels of these rings, and their image (u64, R) = C_to - C_from.
  [[nodiscard]] PixelSet pixels(const Rings& rings) const;
  void image(Stream& stream, const Rings& rings, Array& image) const;

  [[nodiscard]] double centre_row() const { return centre_row_; }
  [[nodiscard]] double centre_col() const { return centre_col_; }
  [[nodiscard]] const Array& planes() const { return sums_; }

 private:
  RadialPrefix() = default;

  double centre_row_ = 0, centre_col_ = 0;
  std::vector<std::int32_t> ring_;  // of every pixel: floor(d); -1 where it is bad
  std::vector<Index> ring_area_;    // good pixels of ring k
  Array sums_;                      // (K + 1, R)
};

}  // namespace sonde::stem
