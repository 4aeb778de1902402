// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/count/count_thresholds.h"

namespace sonde::stem {

/// How electrons are counted.
struct CountOptions {
  std::string dark{}, gain{};  ///< images of the detector; empty: none
  std::optional<double> background{}, xray{};
  double background_sigma = 4, xray_sigma = 10;
  Index samples = 20;
  Index seed = 0;

  void describe(Fields& fields);
  /// What can be refused before anything is read. Throws Error(usage).
  void check() const;
  [[nodiscard]] ThresholdSettings thresholds() const;
};

/// The dark and gain images for a detector of this size. Throws what read_detector_image() throws, Error(bad_file) for
/// complex values, values that are not finite, and gains below zero.
[[nodiscard]] FrameCorrection read_correction(const CountOptions& options, Index rows, Index cols);

}  // namespace sonde::stem
