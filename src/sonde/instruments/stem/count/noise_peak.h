// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sonde::stem {

/// How often values occur: counts[i] in [first + i width, first + (i + 1) width).
struct ValueHistogram {
  double first = 0, width = 1;
  std::vector<std::uint64_t> counts{};

  [[nodiscard]] double middle(std::size_t bin) const { return first + width * (static_cast<double>(bin) + 0.5); }
  /// Bins of `width` from `least` on, to the one that holds `most`; the first and the last also hold what is beyond.
  /// `values` are finite.
  static ValueHistogram of(std::span<const float> values, double least, double most, double width);
};

/// A Gaussian A exp(-(v - mean)^2 / (2 sigma^2)).
struct NoisePeak {
  double amplitude = 0, mean = 0, sigma = 0;
  double mean_error = 0, sigma_error = 0;  ///< standard errors, by the counts of the bins
  double low = 0, high = 0;                ///< the values that were fitted
  double misfit = 0;                       ///< rms difference over the fitted bins, over the amplitude
  int iterations = 0;
};

/// Fits a Gaussian to the noise peak of a histogram by the method of Levenberg and Marquardt. Bins have the weights of
/// their expected counts, which follow the fit, so that it is the likeliest one. Deposits of electrons make a tail
/// above the peak: the fit takes [mean - 3 sigma, mean + sigma] only, found again from fit to fit, from a start at the
/// median with the width of the flank below it. Throws Error(bad_input) where fewer than four bins are in that range:
/// then there is no peak.
[[nodiscard]] NoisePeak fit_noise_peak(const ValueHistogram& histogram);

}  // namespace sonde::stem
