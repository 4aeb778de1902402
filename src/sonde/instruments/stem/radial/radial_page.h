// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/panel/result_page.h"

namespace sonde::stem {

/// The page of what RadialResult::contents() holds: the profile of the scan, and maps of the scan by ring.
[[nodiscard]] panel::Arrangement arrange_radial(const panel::StoredResult& result);

}  // namespace sonde::stem
