// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/engine/bench/case.h"

namespace sonde::ptycho {

/// Direct methods on a scan whose disk has a radius of a quarter of the detector. The floor comes first: one transform
/// of the scan per pair of bright-field images on one thread, which also reads every image once.
[[nodiscard]] PreparedCase prepare_direct(const BenchPoint& point);

}  // namespace sonde::ptycho
