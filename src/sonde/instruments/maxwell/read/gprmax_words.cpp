// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sonde::maxwell {
namespace {

template <class T>
std::optional<T> parsed(std::string_view word) {
  if (word.starts_with("+-")) return std::nullopt;
  if (word.starts_with('+')) word.remove_prefix(1);
  T value{};
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  return code == std::errc() && stop == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

std::optional<double> number_of(std::string_view word) {
  const std::optional<double> value = parsed<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<Index> whole_number_of(std::string_view word) { return parsed<Index>(word); }

}  // namespace sonde::maxwell
