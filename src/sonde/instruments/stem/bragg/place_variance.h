// SPDX-License-Identifier: Apache-2.0
// Private to the room: how well counts decide the place of a disk.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/bragg/bragg_plan.h"
#include "sonde/instruments/stem/bragg/refine.h"

namespace sonde::stem {

/// The variance of the maximum of a correlation of independent Poisson counts, to first order: H^-1 G H^-1 with the
/// curvature H of the correlation and G = sum over pixels of I grad(K) grad(K)^T, K smoothed as the correlation is. The
/// gradients are tabulated for places at every half pixel.
class PlaceVariance {
 public:
  /// `spectrum` is F(K) conjugated, (rows, cols); `reach` the distance at which K has fallen to nothing.
  PlaceVariance(std::span<const std::complex<double>> spectrum, Index rows, Index cols, double sigma, double reach);

  [[nodiscard]] std::size_t bytes() const { return products_.size() * sizeof(float); }
  /// What add() works in: counts and three sums of a row.
  using Room = std::vector<float>;
  /// Sets the variances of a disk at a place whose curvature is known.
  template <class T>
  void add(const T* frame, const PlacedMaximum& place, Room& room, BraggDisk& disk) const;

 private:
  Index rows_, cols_;
  Index half_rows_ = 0, half_cols_ = 0;  // pixels of the window before the place; one more is after it
  std::vector<float> products_;          // (half pixel of y, of x; row; yy yx xx; col)
};

}  // namespace sonde::stem
