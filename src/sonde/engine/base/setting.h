// SPDX-License-Identifier: Apache-2.0
// Settings in texts for people. A library does not know through which door its reader came: it names the key, and the
// door that shows the text writes it as its readers do.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sonde {

/// How a door writes settings.
enum class Spelling {
  keys,    ///< det_bin, device = "cpu", truth = false: run files, reports, the viewer
  flags,   ///< --det-bin, --device cpu, --no-truth: the program; keys with a dot, those of run files, stay keys
  python,  ///< det_bin, device="cpu", truth=False
};

/// A setting in a text, for instance of an Error or a warning: the key, marked, until spelled() writes it.
///   "raise " + setting("memory")         raise memory    raise --memory    raise memory
[[nodiscard]] std::string setting(std::string_view key);
/// With a value: a number or a word.
[[nodiscard]] std::string setting(std::string_view key, std::string_view value);
[[nodiscard]] std::string setting(std::string_view key, const char* value);
/// A switch that is on or off.
[[nodiscard]] std::string setting(std::string_view key, bool on);

/// The text with its settings as a door writes them. Text without any is not changed.
[[nodiscard]] std::string spelled(std::string_view text, Spelling spelling);

/// The text with other settings in place of its own, each in whatever `renamed` makes of its key: for a bridge between
/// two verbs. A key without a new name is named as one of `owner`: "scan_region of `sonde stem convert`".
[[nodiscard]] std::string with_renamed_settings(
    std::string_view text, const std::function<std::optional<std::string>(std::string_view key)>& renamed,
    std::string_view owner);

}  // namespace sonde
