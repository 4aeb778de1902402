// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/header_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "sonde/engine/base/printable.h"
#include "sonde/engine/base/text.h"

namespace sonde::maxwell {
namespace {

std::optional<double> finite_number(std::string_view word) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

constexpr std::size_t most_letters = 400;

}  // namespace

std::string in_capitals(std::string_view text) {
  std::string made(text);
  for (char& letter : made)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return made;
}

HeaderText::HeaderText(std::string_view text, char separator, std::string name) : name_(std::move(name)) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t middle = line.find(separator);
    if (middle != std::string_view::npos)
      values_.try_emplace(in_capitals(trim(line.substr(0, middle))),
                          printable(trim(line.substr(middle + 1)), most_letters));
  }
}

std::optional<std::string> HeaderText::text(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<double> HeaderText::number(const std::string& key) const {
  const std::optional<std::string> word = text(key);
  if (!word) return std::nullopt;
  const std::optional<double> value = finite_number(*word);
  if (!value) throw bad(fmt::format("{} \"{}\"; expected a number", key, *word));
  return value;
}

double HeaderText::above_zero(const std::string& key) const {
  const std::optional<double> value = number(key);
  if (!value) throw bad(fmt::format("no {}", key));
  if (!(*value > 0)) throw bad(fmt::format("{} {:g}; expected above 0", key, *value));
  return *value;
}

Index HeaderText::count(const std::string& key) const {
  const double value = above_zero(key);
  if (value != std::floor(value) || value > 2147483648.0)
    throw bad(fmt::format("{} {:g}; expected a whole number up to 2^31", key, value));
  return static_cast<Index>(value);
}

std::optional<Index> HeaderText::later_count(const std::string& key) const {
  const std::optional<double> value = number(key);
  if (!value || *value == 0) return std::nullopt;
  return count(key);
}

Error HeaderText::bad(const std::string& what) const { return {ErrorKind::bad_file, name_ + ": " + what}; }

std::string own_lines(const FieldLine& line, double unit_of_count, std::string_view separator) {
  std::string made;
  const auto add = [&](const std::string& key, const std::string& value) {
    made += fmt::format("{}{}{}\r\n", key, separator, value);
  };
  add("AMPLITUDE OF", line.quantity);
  add("AMPLITUDE UNIT", line.unit);
  add("AMPLITUDE SCALE", fmt::format("{:.15g}", unit_of_count));
  add("TIME ZERO NS", fmt::format("{:.15g}", line.time_zero * 1e9));
  if (line.positions.empty()) add("POSITIONS", "none");
  for (std::size_t i = 0; i < line.history.size(); ++i) add(fmt::format("PROCESSING {}", i + 1), line.history[i]);
  return made;
}

void take_own_lines(const HeaderText& header, FieldLine& line) {
  line.quantity = header.text("AMPLITUDE OF").value_or(line.quantity);
  line.unit = header.text("AMPLITUDE UNIT").value_or(line.unit);
  if (header.text("AMPLITUDE SCALE")) {
    const double scale = header.above_zero("AMPLITUDE SCALE");
    for (float& value : line.values) value = static_cast<float>(value * scale);
  }
  if (const auto zero = header.number("TIME ZERO NS")) line.time_zero = *zero * 1e-9;
  if (header.text("POSITIONS") == "none") line.positions.clear();
  for (std::size_t i = 1;; ++i) {
    const auto step = header.text(fmt::format("PROCESSING {}", i));
    if (!step) break;
    line.history.push_back(*step);
  }
}

}  // namespace sonde::maxwell
