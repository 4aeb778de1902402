// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sonde {
bool is_control(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

namespace {

/// The number of bytes of a whole character of UTF-8 at the beginning of `text`, and its code point; 0 for none.
std::size_t character_at(std::string_view text, char32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  code = length == 1 ? first : first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  static constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

enum class Lines { one, several };

std::string made_printable(std::string_view text, Lines lines) {
  std::string made;
  made.reserve(text.size());
  while (!text.empty()) {
    char32_t code = 0;
    const std::size_t length = character_at(text, code);
    if (length == 0)
      made += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else if (!is_control(code) || (lines == Lines::several && (code == '\n' || code == '\t')))
      made += text.substr(0, length);
    else if (code == '\n')
      made += "\\n";
    else if (code == '\t')
      made += "\\t";
    else
      made += code < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(code))
                          : fmt::format("\\u{{{:x}}}", static_cast<unsigned>(code));
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return made;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return made_printable(text, Lines::one);
  // Half from each end, both at the border of a character.
  std::size_t front = most_bytes / 2, back = text.size() - most_bytes / 2;
  const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0u) == 0x80u; };
  for (int i = 0; i < 3 && front > 0 && inside(front); ++i) --front;
  for (int i = 0; i < 3 && back + 1 < text.size() && inside(back); ++i) ++back;
  return fmt::format("{} ... {}", made_printable(text.substr(0, front), Lines::one),
                     made_printable(text.substr(back), Lines::one));
}

std::string printable_lines(std::string_view text) { return made_printable(text, Lines::several); }

}  // namespace sonde
