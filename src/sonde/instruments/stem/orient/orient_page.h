// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/panel/result_page.h"

namespace sonde::stem {

/// The page of what OrientResult::contents() holds: the direction of the beam in colours with their legend, grains, how
/// far positions are from each other and from the mean of their grain, and how far to trust them.
[[nodiscard]] std::vector<panel::ResultPanel> arrange_orientation(const panel::StoredResult& result);

}  // namespace sonde::stem
