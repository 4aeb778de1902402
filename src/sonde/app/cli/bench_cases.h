// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/bench/case.h"

namespace sonde::cli {

/// Every case of `sonde bench`, in the order in which they are listed. The
/// cases of an instrument come from it and begin with its name ("stem-decode"), so that `sonde bench stem` runs all of
/// them.
[[nodiscard]] const std::vector<BenchCase>& bench_cases();

/// Copies memory with parallel_for: what every other case is measured against, and a check of the measuring itself.
[[nodiscard]] BenchCase copy_bench_case();

}  // namespace sonde::cli
