// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/bragg/bragg_plan.h"
#include "sonde/instruments/stem/bragg/probe.h"

namespace sonde::stem {

/// What disks are found with: the words of py4DSTEM.
struct BraggOptions {
  std::string probe = "auto";  ///< "auto", a radius in px, or the file of a vacuum scan
  KernelShape kernel = KernelShape::ring;
  std::optional<double> kernel_inner, kernel_outer, kernel_sigma;
  PatternBackground background = PatternBackground::none;
  std::optional<double> background_sigma;
  double gain = 1;  ///< units of the detector for one electron
  double corr_power = 1, sigma_dp = 0, sigma_cc = 2;
  Refinement subpixel = Refinement::newton;
  Index upsample_factor = 16;
  double min_absolute_intensity = 0, min_relative_intensity = 0.005;
  Index relative_to_peak = 0;
  std::optional<double> min_peak_spacing;
  std::optional<Index> edge_boundary;
  Index max_num_peaks = 70;

  void describe(Fields& fields);
  /// Of `probe`: a radius, if it is a number.
  [[nodiscard]] std::optional<double> radius() const;
  /// The file of `probe`; empty for a radius and for "auto".
  [[nodiscard]] std::string vacuum() const;
  /// Settings for a probe: what is not given follows from its radius.
  [[nodiscard]] KernelSettings kernel_settings() const;
  [[nodiscard]] DiskSettings disk_settings(const Probe& probe) const;
  /// What can be refused before any frame is read. Throws Error(usage).
  void check() const;
};

}  // namespace sonde::stem
