// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/stem/simulate/model.h"

namespace sonde::stem {

/// Draws soft disks on a detector, with their counts, and the background about the direct one. A pixel counts the mean
/// of the disk over its area: 3 x 3 Gauss points within 8 edge widths of the edge, which err less than 8 x 8 even ones.
/// Thread-safe.
class SoftDisks {
 public:
  explicit SoftDisks(const Optics& optics);

  /// Sets all pixels to counts exp(-r / c), c the optics' halo length, about a place; the undeflected sum is `counts`.
  void set_background(double row, double col, double counts, std::span<double> rate) const;
  /// Adds a disk with these counts; what misses the detector is lost.
  void add(double row, double col, double counts, std::span<double> rate) const;

 private:
  [[nodiscard]] double profile(double distance) const;

  Optics optics_;
  double disk_area_ = 0, background_sum_ = 0;
  std::vector<double> table_;  // of the disk, at 1/32 px
};

}  // namespace sonde::stem
