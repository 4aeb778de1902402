// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde {

/// What a terminal obeys instead of showing, and what turns the order of the letters round: the control characters
/// below a space, DEL, those of C1, and the marks of writing direction.
[[nodiscard]] bool is_control(char32_t code) noexcept;

/// Text of a file or a name as a terminal may show it: control characters (those of C1 and of writing direction too)
/// become \n, \t, \x1b or \u{202e}, bytes that are no UTF-8 \xff, and what is longer than `most_bytes` is cut in the
/// middle. A backslash stays as it is: the text is for people. Text without any of these is not changed.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most_bytes = 4000);

/// The same for several lines of our own: line ends and tabs stay, and nothing is cut.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace sonde
