// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// What one frame adds to the measures of fit, over its measured pixels, in the model's intensities I and the measured
/// I_m. Single precision engines sum short runs of pixels in single precision, everything beyond in double.
struct FrameSums {
  double loss = 0;              ///< of the loss in use
  double intensity_error2 = 0;  ///< (I_m - I)^2
  double amplitude_error = 0;   ///< |sqrt I_m - sqrt I|
  double amplitude_error2 = 0;  ///< (sqrt I_m - sqrt I)^2
  double deviance = 0;          ///< I - I_m + I_m log(I_m / I)

  FrameSums& operator+=(const FrameSums& other);
};

/// What does not depend on the model: sums over the measured pixels of one frame or of many.
struct CountSums {
  double counts = 0;      ///< I_m
  double counts2 = 0;     ///< I_m^2
  double amplitudes = 0;  ///< sqrt I_m
  double lit = 0;         ///< pixels with I_m > 0
  double pixels = 0;      ///< measured pixels

  CountSums& operator+=(const CountSums& other);
};

/// Measures of fit of one iteration.
struct Metrics {
  double loss = 0;         ///< divided by the sum of the measured counts
  double r_intensity = 0;  ///< R_I = sqrt(sum (I_m - I)^2 / sum I_m^2)
  double r_amplitude = 0;  ///< R_A = sum |sqrt I_m - sqrt I| / sum sqrt I_m
  double nmse = 0;         ///< sum (sqrt I_m - sqrt I)^2 / sum I_m
  double deviance = 0;     ///< 2/n sum (I - I_m + I_m log(I_m / I)): near 1 when the fit is as good as counting allows
};

/// Adds in the order of the frames, so that the result does not depend on who computed them.
[[nodiscard]] Metrics metrics_of(std::span<const FrameSums> frames, const CountSums& counts);

/// R_I of a perfect model when the counts are Poisson: sqrt(sum I_m / sum I_m^2).
[[nodiscard]] double r_intensity_floor(const CountSums& counts);
/// R_I over its floor below which noise is fitted. A right fit of p numbers to n counts leaves sqrt(1 - p / n) of it:
/// 0.8 where each number has fewer than three counts, which is less than any scan to be trusted has.
constexpr double over_fitted_ratio = 0.8;
/// NMSE of a perfect model, about n_lit / (4 sum I_m); rough below one count per pixel.
[[nodiscard]] double nmse_floor(const CountSums& counts);

}  // namespace sonde::ptycho
