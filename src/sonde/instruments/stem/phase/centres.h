// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/pass/centre_sums.h"
#include "sonde/instruments/stem/phase/vector_field.h"

namespace sonde::stem {

/// How centres of mass were measured, and how far the counts themselves scatter them.
struct CentreErrors {
  std::vector<double> x{}, y{};       ///< standard errors in px, NaN where missing; empty where values are no counts
  std::optional<double> threshold{};  ///< pixels up to it count as zero
  bool found_threshold = false;       ///< from the corners of the detector
  double counts_kept = 1;             ///< share of all counts that is in pixels above it
};

/// How far the noise of counts explains deflections. Each is of the vector, both components together.
struct CountingNoise {
  double median_px = 0;      ///< of the standard errors
  double deflection_px = 0;  ///< root mean square of the deflections
  double share = 0;          ///< mean square of the standard errors over that of the deflections
};
/// Nothing where no errors are known, or all deflections are zero.
[[nodiscard]] std::optional<CountingNoise> counting_noise(const VectorField& deflections, const CentreErrors& errors);

/// Centres of mass of a scan in pixels of the detector as loaded.
struct Centres {
  VectorField field;
  CentreErrors errors{};
};

/// The centres of mass that the moments of a scan give: first moments over totals. Positions without a frame, without
/// counts or with fewer than `min_counts` are missing.
[[nodiscard]] VectorField centre_field(const Dataset& dataset, double min_counts);
/// Those of sums over the same frames, with standard errors where these are counts.
[[nodiscard]] Centres centres_of(const Dataset& dataset, const CentreSums& sums, double min_counts);

}  // namespace sonde::stem
