// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// The step of an axis as a file states it.
struct AxisScale {
  double step = 0;
  std::string unit;
};

/// What an axis measures, as far as calibrations use it.
enum class AxisKind { length, inverse_length, angle };

/// A step in nm, 1/Angstrom or mrad; always positive.
struct AxisStep {
  AxisKind kind = AxisKind::length;
  double value = 0;
};

/// Understands the spellings that microscope programs write: "nm", "µm", "Å", "A^-1", "1/nm", "nm⁻¹", "[n_m]",
/// "1 / nanometer", "mrad", "deg". Nothing for other units, and for steps that are zero or not finite.
[[nodiscard]] std::optional<AxisStep> known_step(const AxisScale& scale);

/// Whether nothing is meant by this unit: "", "px", "pixels", "<undefined>".
[[nodiscard]] bool is_no_unit(const std::string& unit);

/// Fills the scan steps from the axes of rows and columns. A unit that is no length is noted and not used.
void take_scan_axes(const std::optional<AxisScale>& row, const std::optional<AxisScale>& col, Acquisition& acquisition);

/// Fills the detector's step from the axes of its rows and columns. A unit that is no angle and no inverse length is
/// noted and not used; where the two steps differ by more than 1e-3 the columns' is used, and a note says so.
void take_detector_axes(const std::optional<AxisScale>& row, const std::optional<AxisScale>& col,
                        Acquisition& acquisition);

}  // namespace sonde::stem
