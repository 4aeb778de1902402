// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/ptycho/positions/movement.h"
#include "sonde/instruments/ptycho/quality/diagnose.h"
#include "sonde/instruments/ptycho/quality/ring_correlation.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// How an R_I compares with the floor that counting noise sets (docs/ptycho-theory.md): below over_fitted_ratio the
/// frames are over-fitted, to 1.3 excellent, to 2 good.
enum class Fit { unknown, below_floor, excellent, good, poor };
[[nodiscard]] Fit judge_fit(double r_intensity, double floor);
[[nodiscard]] std::string_view words_of(Fit fit);

/// What a result file says, in numbers. What it does not tell is empty, 0 or not-a-number.
struct Findings {
  std::string outcome, because;
  Index iterations = 0, best_iteration = 0;
  double r_intensity = 0, r_amplitude = 0;  ///< at the end, or of the best iteration after a divergence
  double floor = 0;
  std::optional<double> r_free, lowest_r_free;
  Index lowest_r_free_at = 0;
  double power_total = 1;
  bool still_falls = false;  ///< the median R_I of the last ten iterations against the ten before: by more than 1 %
  Fit fit = Fit::unknown;
  Movement movement;
  std::vector<double> occupancy;
  std::optional<RingCorrelation> half_data;
  std::vector<Diagnosis> diagnoses;
  std::optional<Acquisition> acquisition;
  std::vector<std::string> engines;  ///< names, in order
  std::vector<std::string> constraints;
  std::string position_method;
  std::optional<double> semiangle;  ///< rad
  std::vector<std::string> warnings;
};

/// Settings that cannot be read any more leave out what only they contain. Judges the result, which takes about a
/// second for a view of 2000 x 2000 pixels.
[[nodiscard]] Findings findings_of(const Result& result);

}  // namespace sonde::ptycho
