// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/load/calibration_file.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/phase/centres.h"
#include "sonde/instruments/stem/phase/origin.h"
#include "sonde/instruments/stem/phase/phase_options.h"
#include "sonde/instruments/stem/phase/rotation.h"
#include "sonde/instruments/stem/phase/vector_field.h"

namespace sonde::stem {

/// What turns detector pixels and scan steps into the unit of the phase.
struct PhaseScale {
  double pixel = 1;                   ///< of the detector as loaded, 1/A; px: 1
  double step_row = 1, step_col = 1;  ///< of the scan as loaded, A; px: in units of step_col
  double sigma = 0;                   ///< rad/(V A), for volts
  Index det_bin = 1, scan_bin = 1;    ///< that pixel and steps hold
  PhaseUnit unit = PhaseUnit::px;
  Value record = Value::object();           ///< all values used, as data
  std::optional<CalibrationFrame> frame{};  ///< what pixels and positions belong to, where it is known

  [[nodiscard]] std::string phase_unit() const;  ///< "rad"
  [[nodiscard]] std::string field_unit() const;  ///< "1/A"; of volts "V": the projected field
  [[nodiscard]] std::string derivative_unit() const;
  /// Whether lengths along the scan are in steps.
  [[nodiscard]] bool in_steps() const { return unit == PhaseUnit::px || unit == PhaseUnit::mrad; }
  /// Of the deflections k = pixel x deflection: what the shown field is, and what is integrated.
  [[nodiscard]] double field_factor() const;
  [[nodiscard]] double gradient_factor() const;
};

/// Throws Error(bad_input) that names what is missing and the setting that gives it. `path` stands in messages.
[[nodiscard]] PhaseScale phase_scale(const std::string& path, const Calibration& calibration, Index det_bin,
                                     Index scan_bin, const PhaseOptions& options);

/// The plane through centres of mass that were measured from their mean: descan, or a slow field of the specimen. The
/// integral makes a bowl of it.
struct CentreDrift {
  double px = 0;     ///< from corner to corner, at most
  double share = 0;  ///< of the squared deflections
};

/// All that is made of the centres of mass of a scan.
struct PhaseResult {
  PhaseScale scale;
  PhaseOptions options;  ///< that it was made with
  VectorField centres;   ///< px, along the detector
  CentreErrors errors{};
  std::optional<CountingNoise> noise{};  ///< of counts only
  Origin origin{};
  std::optional<CentreDrift> drift{};  ///< of origins that are the mean
  ScanRotation rotation{};
  VectorField field{};  ///< along the scan, in units of PhaseScale::field_unit()
  CurlAndDivergence derivatives{};
  std::vector<double> phase{};           ///< NaN where missing; of mean 0, but for ricom; empty: a field by itself
  std::vector<std::uint8_t> complete{};  ///< 0 where ricom's kernel reaches what is not there; else as valid
  Index iterations = 0;                  ///< of cg
  std::vector<std::string> warnings{};   ///< what should not be trusted, the most likely cause first

  [[nodiscard]] double missing_share() const;
  /// Rotation, confidence, curl, skewness, missing positions and noise: what shows whether the result makes sense.
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Value to_value() const;
};

/// Origin, rotation, derivatives and integral. `reference`: the centres of a vacuum scan, for `fit` file; `errors`: of
/// the centres, where they are known. Throws
/// Error(bad_input) when shapes differ or fewer than 2 positions are valid.
[[nodiscard]] PhaseResult make_phase(VectorField centres, const PhaseScale& scale, const PhaseOptions& options,
                                     const std::optional<VectorField>& reference = {}, CentreErrors errors = {});

}  // namespace sonde::stem
