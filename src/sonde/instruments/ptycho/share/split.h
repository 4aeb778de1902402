// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// The frames in compact regions whose sizes differ by at most one: the scan is cut in two across its longer side, and
/// the halves again (a k-d split). Numbers of frames, ascending in every region. A pure function of the places.
[[nodiscard]] std::vector<std::vector<Index>> split_frames(std::span<const Placement> placements, Index regions);

/// What two boxes share; of no rows or columns when they share nothing.
[[nodiscard]] Box overlap(const Box& a, const Box& b);

}  // namespace sonde::ptycho
