// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/bench/case.h"
#include "sonde/engine/figure/chart.h"

namespace sonde::cli {

/// The points of one case as a chart: time and rate over size where there are several sizes, bars for a single one.
/// `machine` gives the limit that the rates are compared with.
[[nodiscard]] Chart bench_chart(const BenchCase& bench_case, const Value& points, const Value& machine);

}  // namespace sonde::cli
