// SPDX-License-Identifier: Apache-2.0
// Private to the room: maxima of the power of a pattern between the points of its transform.
#pragma once

#include <array>
#include <complex>
#include <optional>
#include <vector>

#include "sonde/instruments/stem/bragg/climb.h"
#include "sonde/instruments/stem/spectra/pattern_power.h"

namespace sonde::stem {

/// A place in a spectrum, cycles per pixel of the detector along its columns (x) and rows (y).
struct Frequency {
  double x = 0, y = 0;
};

/// The power of a pattern w L at any place, not only at points of its transform:
///   P(y, x) = |S|^2, S = sum of w L exp(-2 pi i (y r / rows + x c / cols)), y and x in points of the transform,
/// exactly, in double precision. Six products for each pixel.
class PowerAt {
 public:
  PowerAt(Index rows, Index cols);

  /// P and its derivatives.
  [[nodiscard]] Derivatives derivatives(const float* pattern, double y, double x);

  /// How far the maximum at the place of the last call moves, in points, with a change of w L in each pixel: (rows,
  /// cols) along rows and along columns. The slopes of P change by 2 Im(conj(e) S_y + t conj(S) e) with e the pixel's
  /// wave and t its phase per point, and the maximum by -H^-1 of that, H the curvature.
  void movements(const PlacedMaximum& maximum, std::vector<float>& along_y, std::vector<float>& along_x) const;

 private:
  struct Axis {
    explicit Axis(Index extent);
    void turn(double place);
    std::vector<double> phase;         // of each pixel for one point, from the middle
    std::vector<double> cosine, sine;  // at a place
  };

  Axis rows_, cols_;
  std::array<std::vector<double>, 6> sums_;   // (col) over rows: 1, t, t^2 times cosine, the same times sine
  std::complex<double> sum_, sum_y_, sum_x_;  // S, and its sums with the phases of rows and columns
};

/// A maximum of the power.
struct PowerPeak {
  Frequency at{};
  PlacedMaximum maximum{};  ///< in points of the transform
};

/// The largest point of half a power within `radius` points of a place, refined. Nothing where that is no maximum: at
/// the border of the region, or the curvature says so.
[[nodiscard]] std::optional<PowerPeak> place_peak(const PatternPower& plan, const PatternPower::Scratch& scratch,
                                                  const Frequency& near, double radius, PowerAt& power);

/// P at a point of the transform, of half of it (rows, cols / 2 + 1).
template <class T>
[[nodiscard]] T at_point(const T* half_power, Index rows, Index cols, Index y, Index x) {
  const Index half = cols / 2 + 1;
  Index k = wrap(y, rows), l = wrap(x, cols);
  if (l >= half) {
    k = wrap(-k, rows);
    l = cols - l;
  }
  return half_power[k * half + l];
}

}  // namespace sonde::stem
