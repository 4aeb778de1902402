// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// Throws Error(bad_input) when `path` is a file that the scan was read from: results never replace measurements.
void require_not_input(const std::string& path, const Acquisition& acquisition);

}  // namespace sonde::stem
