// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/engine/bench/case.h"

namespace sonde::maxwell {

/// Shots of a survey, by how many of them run at the same time.
[[nodiscard]] BenchCase shots_case();

}  // namespace sonde::maxwell
