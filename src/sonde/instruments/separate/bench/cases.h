// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/bench/case.h"

namespace sonde::separate {

/// The cases of `sonde bench separate-...`.
[[nodiscard]] std::vector<BenchCase> bench_cases();
/// Its layers by themselves, among them.
[[nodiscard]] BenchCase layers_case();
/// Those of whole files, among them.
[[nodiscard]] std::vector<BenchCase> song_cases();

}  // namespace sonde::separate
