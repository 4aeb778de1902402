// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/run/run.h"

namespace sonde::join {

/// What every door gives to a run: pages that a server shows, and frames of 4D-STEM files where the build has their
/// reader. Who starts the run adds how it speaks.
[[nodiscard]] Surroundings surroundings();

}  // namespace sonde::join
