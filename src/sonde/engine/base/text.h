// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// "1.5 GiB", "858 B": binary units, three significant digits, for people.
[[nodiscard]] std::string format_bytes(double bytes);

/// Reads "8G", "512M", "1.5GiB", "100000": binary multiples k, M, G, T. Throws Error(usage) on anything else.
[[nodiscard]] std::size_t parse_bytes(std::string_view text);

/// "1.23 s", "45.6 ms", "789 us", for people.
[[nodiscard]] std::string format_seconds(double seconds);

/// "a, b and c".
[[nodiscard]] std::string join_words(const std::vector<std::string>& words, std::string_view last_joint = " and ");

/// The parts of `text` between separators; an empty text gives no part.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// Reads "1e-5, 2,30". Throws Error(usage) beginning with `name` for anything that is no finite number.
[[nodiscard]] std::vector<double> parse_numbers(std::string_view text, std::string_view name);

[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string to_lower(std::string_view text);

/// Candidates within a small edit distance of `name`, or that begin with it when it has two letters or more; closest
/// first, at most three.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean \"detector_bin\"?" or, when nothing is close, an empty string.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// Orders "a2" before "a10": runs of digits compare as numbers, everything else as characters.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

}  // namespace sonde
