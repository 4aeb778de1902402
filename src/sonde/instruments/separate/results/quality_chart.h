// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/figure/chart.h"
#include "sonde/engine/options/value.h"

namespace sonde::separate {

/// The curves of "quality" in a summary of stems (separation.json): how far passes agree on each stem, and what all
/// stems lack of the mixture, over time. Throws Error(bad_input), naming `path`, for other values.
[[nodiscard]] Chart quality_chart(const Value& summary, const std::string& path);

}  // namespace sonde::separate
