// SPDX-License-Identifier: Apache-2.0
// Private to the room: what makes disks untrustworthy.
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/stem/bragg/bragg_result.h"

namespace sonde::stem {

/// The median distance of a disk to the nearest one of its pattern, of those that are at least a tenth as bright as the
/// brightest; 0 where there are none.
[[nodiscard]] double nearest_distance(const BraggVectors& vectors);

/// What should not be trusted and why, the causes first.
[[nodiscard]] std::vector<std::string> bragg_faults(const BraggResult& result, const BraggOptions& options,
                                                    const Dataset& dataset);

}  // namespace sonde::stem
