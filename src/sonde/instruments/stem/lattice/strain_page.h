// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/panel/result_page.h"

namespace sonde::stem {

/// The page of what StrainResult::contents() holds: strain with one range of colours, rotation, their errors, and how
/// many disks are behind them. Titles say whose axes the maps are along.
[[nodiscard]] std::vector<panel::ResultPanel> arrange_strain(const panel::StoredResult& result);

}  // namespace sonde::stem
