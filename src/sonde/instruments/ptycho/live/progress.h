// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the numbers of a run tell before it is over.
#pragma once

#include <vector>

#include "sonde/instruments/ptycho/quality/diagnose.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho {

/// near_divergence, power_drift, power_change, above_floor, below_floor, over_fitting, positions_at_limit, in this
/// order. Errors are judged within the last engine: those of others may be of another kind. `floor`: of R_I, 0 when it
/// is not known; `positions`: of the scan.
[[nodiscard]] std::vector<Diagnosis> diagnose_progress(const std::vector<IterationRecord>& history, double floor,
                                                       Index positions);

}  // namespace sonde::ptycho
