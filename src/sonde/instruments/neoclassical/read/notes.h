// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sonde::neoclassical {

/// What a user should know of a file that was read, one sentence each: for the report.
using Notes = std::vector<std::string>;

}  // namespace sonde::neoclassical
