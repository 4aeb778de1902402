// SPDX-License-Identifier: Apache-2.0
// Private to the room: words and numbers as Python reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

inline constexpr std::string_view blanks = " \t\r\v\f";

/// What is between blanks.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);
/// "1", "+2.5", ".5e-9"; nothing for other words and for what is not finite.
[[nodiscard]] std::optional<double> number_of(std::string_view word);
[[nodiscard]] std::optional<Index> whole_number_of(std::string_view word);

}  // namespace sonde::maxwell
