// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/bench/case.h"
#include "sonde/engine/panel/page_viewer.h"

namespace sonde::ptycho {

/// ptycho-live: iterations of a reconstruction that nobody sees, and as many while somebody looks.
[[nodiscard]] BenchCase live_bench_case(ShowPage show);

}  // namespace sonde::ptycho
