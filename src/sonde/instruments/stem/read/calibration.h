// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// Fills detector_step_mrad = pixel / camera length and detector_step_inv_a = angle / wavelength where they are absent
/// and follow from the others; each from the other as well, through the wavelength. A step that rests on a value of the
/// user counts as the user's.
void derive_detector_steps(Calibration& calibration);

/// Of the detector whose rows and columns are exchanged.
[[nodiscard]] Calibration with_exchanged_axes(Calibration calibration);

/// Of a detector with another size of pixels: `bin` of those the calibration counts are one there, along each axis; 1 /
/// bin where they are larger. Places p become (p + 1/2) / bin - 1/2, the middle of the same area, and steps `bin` times
/// what they were; ellipse and rotation stay.
[[nodiscard]] Calibration with_binned_pixels(Calibration calibration, double bin);

/// binned_place() is where a place of a detector is on one whose pixels are `bin` of its own.
[[nodiscard]] double binned_place(double place, double bin);
/// The stated centre on a detector of such bins, if there is one.
[[nodiscard]] std::optional<BeamCentre> resident_centre(const Calibration& calibration, Index det_bin);

/// The same rotation and transposition where the scan is seen in another order of its positions: v = R(rotation) T
/// v_detector is exact for flips and the exchange of scan axes. Without a rotation nothing changes.
[[nodiscard]] Calibration with_scan_order(Calibration calibration, const ScanOrder& from, const ScanOrder& to);

}  // namespace sonde::stem
