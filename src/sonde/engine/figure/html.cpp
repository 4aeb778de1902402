// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/html.h"

#include <algorithm>
#include <cstdint>

#include "sonde/engine/io/png.h"

namespace sonde {

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    const std::size_t given = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 4; ++k) text += k <= given ? letters[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string png_data(const Array& picture) { return "data:image/png;base64," + base64(encode_png(picture)); }

}  // namespace sonde
