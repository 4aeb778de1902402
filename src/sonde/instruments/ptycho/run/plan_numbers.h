// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "sonde/engine/base/index.h"
#include "sonde/engine/base/text.h"

namespace sonde::ptycho {

// What the plans of the host's memory and of a device's share: counts as numbers of bytes, and bytes as text.
[[nodiscard]] inline std::size_t size(Index n) { return static_cast<std::size_t>(n); }
[[nodiscard]] inline std::string bytes_text(std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace sonde::ptycho
