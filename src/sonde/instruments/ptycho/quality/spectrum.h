// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/quality/image.h"

namespace sonde::ptycho {

/// sin^2(pi (i + 1/2) / n): takes the edges of an image away before it is transformed.
[[nodiscard]] double hann(Index i, Index n);

/// Which ring of spatial frequencies each pixel of a transform belongs to, zero frequency at [0,0]: the nearest
/// multiple of the coarser of the two steps of frequency.
class Rings {
 public:
  /// Of an image whose pixels have these sizes; frequencies are in the inverse of that unit.
  Rings(Index rows, Index cols, double pixel_row = 1, double pixel_col = 1);

  /// Rings 0 ... count() - 1 lie wholly below the Nyquist frequency; pixels in the corners belong to none of them.
  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] double width() const { return width_; }
  /// The frequency of a pixel, and its ring.
  [[nodiscard]] double frequency_at(Index row, Index col) const;
  [[nodiscard]] Index ring_at(Index row, Index col) const;

 private:
  Index rows_, cols_, count_;
  double pixel_row_, pixel_col_, width_;
};

/// |F[hann (image - mean)]|^2, zero frequency at [0,0].
[[nodiscard]] Image power_spectrum(const Image& image);

/// The median over the pixels of each ring: lines and spots of a spectrum hardly change it, rings do.
[[nodiscard]] std::vector<double> ring_medians(const Image& power, const Rings& rings);

/// 0 for no values. Of an even number the upper of the two middle ones.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace sonde::ptycho
