// SPDX-License-Identifier: Apache-2.0
// Private to the room: places of maxima between pixels.
#pragma once

#include <array>
#include <complex>
#include <optional>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/bragg/disk_kernels.h"
#include "sonde/instruments/stem/bragg/peaks.h"

namespace sonde::stem {

/// px: steps of Newton and of Fisher's scoring, and the last one.
inline constexpr double longest_step = 0.5, small_step = 1e-4;
/// A maximum further than this from the pixel's parabola is another one, px.
inline constexpr double farthest_move = 1.5;

/// An index of what is periodic.
[[nodiscard]] constexpr Index wrap(Index at, Index extent) { return (at % extent + extent) % extent; }

/// A maximum between pixels, with the curvature of the correlation there.
struct PlacedMaximum {
  double y = 0, x = 0, value = 0;
  double yy = 0, yx = 0, xx = 0;  ///< second derivatives; all zero where not known
};

/// A parabola through three values of the correlation for each axis, those below zero counted as zero:
/// d = (I+ - I-) / (4 I0 - 2 I+ - 2 I-); the value there by bilinear interpolation.
[[nodiscard]] PlacedMaximum refine_poly(const float* correlation, Index cols, const Peak& peak);

/// A Gaussian A exp(-((y - y0)^2 + (x - x0)^2) / (2 sigma^2)) + b through the 7 x 7 values of the correlation about a
/// peak, those below zero counted as zero: least squares by Levenberg and Marquardt, 50 iterations at most. `value` is
/// A + b. Nothing where the fit is not a hill within 1.5 px of the peak. `correlation` is (rows, cols), periodic.
[[nodiscard]] std::optional<PlacedMaximum> refine_gaussian(const float* correlation, Index rows, Index cols,
                                                           const Peak& peak);

/// A Gaussian of `sigma` px, 0.8 to 1, by which a correlation is smoothed at any place.
class GaussianWindow {
 public:
  explicit GaussianWindow(double sigma);
  /// The Gaussian and its first two derivatives at `offset` minus each pixel of a window about its middle, with
  /// |offset| < 1: (3, window_lanes).
  void weights(double offset, float* to) const;

 private:
  double square_ = 1;
  std::array<double, cpu::window_size> falloff_{};  // of pixels for offset 0
};

/// Newton's steps from `start` to the maximum of a correlation that is smoothed by a Gaussian here, in place of by its
/// spectrum: cc(y, x) = sum over pixels of u g(y - i) g(x - j), exact up to frequencies beyond half a cycle per pixel,
/// of which exp(-2 pi^2 sigma^2 f^2) leaves less than 0.7 % from sigma = 1 on. Nothing where it has no maximum within a
/// pixel. `u` is (rows, cols), periodic.
[[nodiscard]] std::optional<PlacedMaximum> refine_smoothed(const float* u, Index rows, Index cols,
                                                           const GaussianWindow& window, const PlacedMaximum& start);

/// Half of a spectrum (rows, cols / 2 + 1) of which the correlation at any place is
///   cc(y, x) = sum over k, l of C(k, l) exp(2 pi i (k y / rows + l x / cols)), divided by rows cols.
struct HalfSpectrum {
  const std::complex<float>* values = nullptr;
  Index rows = 0, cols = 0;
};

/// The same by the spectrum itself: for any smoothing. 3 rows cols / 2 complex products for a step.
[[nodiscard]] std::optional<PlacedMaximum> refine_exact(const HalfSpectrum& spectrum, const PlacedMaximum& start);

/// From `start`, rounded to 1 / upsample px: the largest value on a grid of ceil(1.5 upsample) points of that distance
/// about it, and a parabola there unless it lies on the border of the grid.
[[nodiscard]] PlacedMaximum refine_multicorr(const HalfSpectrum& spectrum, Index upsample, const PlacedMaximum& start);

}  // namespace sonde::stem
