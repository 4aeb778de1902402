// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/options/fields.h"

namespace sonde {

/// "INPUT [OUTPUT...]": positional arguments as a usage line shows them.
[[nodiscard]] std::string usage_arguments(const Fields& fields);

/// The settings as plain text, one paragraph per field, grouped by heading, wrapped at `columns`.
[[nodiscard]] std::string help_text(const Fields& fields, std::size_t columns = 100);

/// The settings as Markdown tables (flag, value, default, meaning), one per heading.
[[nodiscard]] std::string help_markdown(const Fields& fields);

/// The settings as one Markdown table for those who write a configuration file: key, value, default, unit and limits,
/// meaning.
[[nodiscard]] std::string keys_markdown(const Fields& fields);

}  // namespace sonde
