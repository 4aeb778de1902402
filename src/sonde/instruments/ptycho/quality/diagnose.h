// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/quality/acquisition.h"

namespace sonde::ptycho {

/// What a reconstruction left behind, as far as it is known. Views and pointers must stay valid while it is judged.
struct Evidence {
  const State* state = nullptr;
  Sampling sampling{};
  double semiangle = 0;  ///< of the aperture, rad; 0: not known
  std::optional<Acquisition> acquisition{};
  std::span<const Point> initial_positions{};  ///< as those of the state were before any was corrected
  std::span<const double> r_intensity{};       ///< R_I of every iteration
  double r_floor = 0;                          ///< R_I that counting noise leaves; 0: not known
  const State* earlier = nullptr;              ///< ten iterations ago, or of a run without regularisation
};

/// unknown: the evidence does not suffice.
enum class Verdict { good, suspect, unknown };

/// One diagnosis (docs/ptycho-theory.md#diagnoses).
struct Diagnosis {
  std::string_view name;
  double value = 0;      ///< what was measured
  double threshold = 0;  ///< beyond which it is suspect
  Verdict verdict = Verdict::unknown;
  std::string_view cause;  ///< what a suspect value usually comes from
  std::string_view fix;    ///< what to try
};

/// Every diagnosis there is, in the order of the table there. About a second for a view of 2000 x 2000 pixels.
[[nodiscard]] std::vector<Diagnosis> diagnose(const Evidence& evidence);

/// Those of them that look only at numbers and probe: missing_overlap, scan_distortion, outside_aperture,
/// mode_collapse, low_dose. A transform of every probe mode.
[[nodiscard]] std::vector<Diagnosis> diagnose_quickly(const Evidence& evidence);

/// Verdict and threshold in one: a value above it is suspect, none or no number unknown.
[[nodiscard]] Diagnosis judged(std::string_view name, std::optional<double> value, double threshold,
                               std::string_view cause, std::string_view fix);

/// [{"name", "value", "threshold", "verdict": "good" | "suspect" | "unknown", "cause", "fix"}, ...]; cause and fix of
/// suspect ones only, no value where it is unknown.
[[nodiscard]] Value to_value(const std::vector<Diagnosis>& diagnoses);

}  // namespace sonde::ptycho
