// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sonde/engine/memory/budget.h"

namespace sonde::testing {

/// A budget that is no limit to what a test holds.
inline Budget plenty() { return Budget(std::size_t{1} << 30U, "test"); }

}  // namespace sonde::testing
