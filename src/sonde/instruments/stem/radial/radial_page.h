// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/panel/result_page.h"

namespace sonde::stem {

/// The page of what RadialResult::contents() holds: the profile of the scan, and maps of the scan by ring.
[[nodiscard]] std::vector<panel::ResultPanel> arrange_radial(const panel::StoredResult& result);

}  // namespace sonde::stem
