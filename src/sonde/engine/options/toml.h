// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/options/fields.h"
#include "sonde/engine/options/tables.h"

namespace sonde {

/// Reads a configuration file into the fields (origin `file`). Keys are those of the fields; keys below a table header
/// such as [stem.load] belong only to that command and are read only when `command` is "stem load", so that one file
/// can serve several commands. `commands` are all that exist ("stem load", ...): a table of none of them is an error
/// too; empty: tables of others are not read. Throws Error(bad_file) when the file cannot be read, and with file and
/// line for bad syntax, unknown keys and tables (naming the nearest) and values that do not fit; all bad keys are
/// reported together.
void read_toml(const std::string& path, Fields& fields, std::string_view command = "",
               const std::vector<std::string>& commands = {});

/// The same from text; `name` stands for the file in messages.
void parse_toml(std::string_view text, const std::string& name, Fields& fields, std::string_view command = "",
                const std::vector<std::string>& commands = {});

/// Reads a file of several tables (origin `file`): [name] once each, [[name]] for every item of a list, whose key
/// `name` gives its kind. Throws like read_toml above, and Error(bad_file) for settings outside of tables, items
/// without a name and unknown kinds (naming the nearest); all problems are reported together.
void read_toml(const std::string& path, Tables& tables);
void parse_toml(std::string_view text, const std::string& name, Tables& tables);

/// A path that was written in a configuration file, as seen from where the program runs: relative ones start at the
/// file's folder. An empty one stays so.
[[nodiscard]] std::string path_from_file(const std::string& path, const std::string& file);

/// The text of a file of tables whose values are plain: what Tables::echo() gives, so that reading the text gives the
/// same echo. Settings that are null, and so unset, are left out.
[[nodiscard]] std::string to_toml(const Value& tables);

}  // namespace sonde
