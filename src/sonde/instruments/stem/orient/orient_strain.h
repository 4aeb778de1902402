// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/instruments/stem/lattice/strain_result.h"
#include "sonde/instruments/stem/orient/orientation_plan.h"

namespace sonde::stem {

/// How the disks of a pattern are moved from where the kinematic pattern of an orientation has them: q = q0 + A g, with
/// g in the plane of the detector, in px (`q_pixel` in 1/A). The basis of the fit has the columns of A, so that F =
/// A^-T is the deformation of the crystal across the beam, exact where the beam stays a principal axis of it; its turn
/// is what is left beside the orientation. Disks are paired with spots from the inside out: as long as A is the
/// identity only near the direct beam, where strain moves them little. At most one disk and one spot in a pair, not
/// farther from each other than options.max_peak_spacing; then outliers are left out and errors are those of
/// fit_lattice(). `peaks` from the direct beam, the direct disk not among them.
[[nodiscard]] LatticeFit fit_deformation(const OrientationPlan& plan, const Orientation& orientation,
                                         std::span<const DiffractionPeak> peaks, double q_pixel,
                                         const LatticeFitOptions& options);

}  // namespace sonde::stem
