// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a result of strain should not be trusted for, and why.
#pragma once

#include <vector>

#include "sonde/instruments/stem/lattice/strain_result.h"

namespace sonde::stem {

/// Why the disks of a scan have no lattice: what that makes of every pattern.
FitOutcome doubt_lattice(const BraggVectors& vectors, const std::vector<LatticePeak>& maxima, StrainResult& result);

/// Everything else, the most likely cause first.
void doubt_strain(const BraggVectors& vectors, const StrainOptions& options, StrainResult& result);

}  // namespace sonde::stem
