// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/bench/case.h"

namespace sonde::maxwell {

/// Of `sonde bench`. Sizes of the cases are cells along an axis, layers of ten cells within.
[[nodiscard]] std::vector<BenchCase> bench_cases();

}  // namespace sonde::maxwell
