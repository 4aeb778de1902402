// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/count/count_frame.h"
#include "sonde/instruments/stem/count/noise_peak.h"

namespace sonde::stem {

/// Corrected values of some frames of a scan.
struct FrameSample {
  Index rows = 0, cols = 0;
  std::vector<float> values{};       ///< (frame, row, col)
  std::vector<std::uint8_t> good{};  ///< (row, col); empty: all
  bool whole = false;                ///< the detector counted in whole numbers, and nothing was corrected
  /// Whole numbers that were corrected: the gain times 1, a step between values of a pixel; 0: not of whole numbers.
  double step = 0;

  [[nodiscard]] Index pixels() const { return rows * cols; }
  [[nodiscard]] Index frames() const { return pixels() > 0 ? static_cast<Index>(values.size()) / pixels() : 0; }
};

/// Thresholds of counting, given or found.
struct ThresholdSettings {
  std::optional<double> background{}, xray{};
  double background_sigmas = 4;  ///< background = mean + so many sigma of the noise
  double xray_sigmas = 10;       ///< x-ray = median + so many spreads of the electrons
  std::uint64_t seed = 0;        ///< of what makes corrected whole numbers continuous
};

struct CountThresholds {
  CountLimits limits;
  std::optional<NoisePeak> noise;           ///< where the background was found
  ValueHistogram histogram;                 ///< of good pixels, to be shown
  Index peaks = 0;                          ///< electrons of the sample above the background
  double peak_median = 0, peak_spread = 0;  ///< of their values: the median, and from it to the quantile 0.841
  std::string background_because, xray_because;
  std::vector<std::string> warnings;
};

/// The thresholds for frames like those of the sample. Background: fit_noise_peak() of the histogram of all good
/// pixels. X-rays: median + xray_sigmas times the upper spread of the values of electrons, found with that background;
/// infinite where the sample has fewer than 20. (The mean + 10 standard deviations of all pixels, as stempy has it, is
/// below the deposit of an electron where few pixels have one: 13 with deposits of 30 over noise of 1 at an occupancy
/// of 0.1 %.) Depends on the sample only. Throws Error(bad_input) where there is no noise peak, naming the setting that
/// helps, and where background >= xray.
[[nodiscard]] CountThresholds find_thresholds(const FrameSample& sample, const ThresholdSettings& settings);

}  // namespace sonde::stem
