// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/engine/bench/case.h"

namespace sonde::maxwell {

/// Gradients of eps_r and sigma, kept in different ways, over the run itself.
[[nodiscard]] BenchCase gradient_case();

}  // namespace sonde::maxwell
