// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/text_lines.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace sonde::neoclassical {

std::optional<double> fortran_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code == std::errc() && stop != end && (*stop == 'd' || *stop == 'D')) {
    std::string changed(text);
    changed[static_cast<std::size_t>(stop - text.data())] = 'e';
    const auto again = std::from_chars(changed.data(), changed.data() + changed.size(), value);
    if (again.ec != std::errc() || again.ptr != changed.data() + changed.size()) return std::nullopt;
  } else if (code != std::errc() || stop != end) {
    return std::nullopt;
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<int> fortran_integer(std::string_view text, int most) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || stop != text.data() + text.size() || value > most || value < -most) return std::nullopt;
  return value;
}

std::optional<std::string_view> TextLines::next() {
  if (rest_.empty()) return std::nullopt;
  ++number_;
  const std::size_t end = rest_.find('\n');
  std::string_view line = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Error TextLines::error(const std::string& what) const {
  return Error(ErrorKind::bad_file, fmt::format("{}, line {}: {}", *name_, number_, what));
}

void split_words(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  constexpr std::string_view separators = " \t,";
  for (std::size_t at = line.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = line.find_first_of(separators, at);
    words.push_back(line.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : line.find_first_not_of(separators, end);
  }
}

}  // namespace sonde::neoclassical
