// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/read/scan.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/scan/placement.h"
#include "sonde/instruments/ptycho/scan/spacing.h"

namespace sonde::ptycho {

/// What the first probe means for a scan. Overlaps are linear, 1 - distance / diameter.
struct ScanAssessment {
  double diameter = 0;  ///< of the circle with 99 % of the probe's power, object pixels
  double overlap = 0;   ///< with the neighbour along the longer step of the scan, the median of all positions
  double along = 0;     ///< the same along the shorter step
  double worst = 0;     ///< of the position that is furthest from all others with its nearest
  Index groups = 0;     ///< colours that frames need so that those of one colour do not overlap

  /// "neighbours overlap by 71 %", both directions where they differ.
  [[nodiscard]] std::string text() const;
};
/// `probe` is complex128 (modes, rows, cols).
[[nodiscard]] ScanAssessment assess_scan(const Scan& scan, const Spacing& spacing, const Array& probe);

/// "step 2.01 px", or "steps of 2 and 3 px" of a raster whose steps differ; in A where there is a calibration.
[[nodiscard]] std::string step_text(const Spacing& spacing, const Scan& scan);

/// Of a scan of more than one place: overlaps below 60 %, where reconstructions are rarely to be trusted
/// (docs/ptycho-theory.md#diagnoses), with the numbers, and a position that is nearly isolated.
[[nodiscard]] std::vector<std::string> overlap_warnings(const ScanAssessment& assessment, const Scan& scan,
                                                        const Spacing& spacing);

/// Positions of frames that take part: their spacing. Throws Error(bad_input) when there are several and all are at one
/// place: there is no overlap to reconstruct from.
[[nodiscard]] Spacing spacing_of_active(const Scan& scan);

/// Positions that repeat, a scan finer than a hundredth of an object pixel, and those so far away that the object holds
/// mostly nothing.
[[nodiscard]] std::vector<std::string> position_warnings(const Scan& scan, const Spacing& spacing,
                                                         const ObjectExtent& extent);

/// Advice for patterns with less than a count per measured pixel, where the loss of amplitudes is
/// biased, when an engine of the run has it; empty when there is nothing to say. 0: not known.
[[nodiscard]] std::string dose_advice(double counts_per_pixel, std::span<const EngineRun> engines);

/// How well a finished reconstruction explains its measurement.
struct FitFacts {
  double r_intensity = 0;       ///< R_I of the estimate that is kept
  double last_r_intensity = 0;  ///< of the last iteration
  std::optional<double>
      r_free{};                ///< of frames that were held out; nothing while positions are corrected, theirs are not
  double floor = 0;            ///< of R_I, by counting noise; 0: not known
  double counts_per_unit = 1;  ///< that the floor follows from
  double overlap = 0;          ///< of neighbouring probes, 0 to 1
};

/// What that means, for people: R_I above 3 or below over_fitted_ratio times its floor, R_free above 1.2 times R_I.
/// Both sides of the floor name the counts_per_unit that would put R_I on it. A right fit of p numbers to n counts has
/// R_free / R_I = sqrt((1 + p/n) / (1 - p/n)): 1.2 where there are fewer than 5.5 measured numbers for each unknown.
[[nodiscard]] std::vector<std::string> fit_warnings(const FitFacts& fit);

}  // namespace sonde::ptycho
