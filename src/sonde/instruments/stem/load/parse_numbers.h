// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// The whole number a flag was given. Throws Error(usage) naming the flag, with `example` in the hint.
[[nodiscard]] Index parse_index(std::string_view text, std::string_view flag, std::string_view example);

/// Exactly `count` whole numbers separated by commas.
[[nodiscard]] std::vector<Index> parse_list(const std::string& text, std::size_t count, std::string_view flag,
                                            std::string_view example);

}  // namespace sonde::stem
