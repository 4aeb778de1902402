// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/lattice/strain_result.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// Strain from the peaks of the power cepstrum of every pattern, with a Hann window: vectors of the crystal itself, so
/// that F maps those of the reference onto them. The result is that of make_strain, its lattices the inverse transposed
/// of the vectors; reference, frame, measure, ellipse and basis are as there, and what `options` say of disks has no
/// effect. Errors are those of the counts times the factor, at least 1, by which neighbours along a row scatter more:
/// intensities that change from pattern to pattern move peaks as well. Throws Error(budget), and what visit_frames and
/// make_strain throw.
[[nodiscard]] StrainResult make_cepstral_strain(const Dataset& dataset, const StrainOptions& options, Budget budget);

}  // namespace sonde::stem
