// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/parse_numbers.h"

#include <fmt/format.h>

#include <charconv>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::stem {

Index parse_index(std::string_view text, std::string_view flag, std::string_view example) {
  const std::string_view trimmed = trim(text);
  Index value = 0;
  const auto [end, status] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  if (status != std::errc() || end != trimmed.data() + trimmed.size())
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not a whole number", flag, text))
        .hint(fmt::format("write for instance {}", example));
  return value;
}

std::vector<Index> parse_list(const std::string& text, std::size_t count, std::string_view flag,
                              std::string_view example) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != count)
    throw Error(ErrorKind::usage,
                fmt::format("{}: \"{}\" has {} numbers, {} are needed", flag, text, parts.size(), count))
        .hint(fmt::format("write for instance {}", example));
  std::vector<Index> values;
  values.reserve(parts.size());
  for (const std::string& part : parts) values.push_back(parse_index(part, flag, example));
  return values;
}

}  // namespace sonde::stem
