// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Edit distance with adjacent transpositions counted once (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string format_bytes(double bytes) {
  static constexpr std::array<const char*, 6> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1023.5 && unit + 1 < units.size()) {
    bytes /= 1024.0;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f} B", bytes);
  const double size = std::abs(bytes);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", bytes, decimals, units[unit]);
}

std::size_t parse_bytes(std::string_view text) {
  const std::string_view trimmed = trim(text);
  double value = 0;
  const auto [rest, status] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  std::string unit = to_lower(trim(std::string_view(rest, static_cast<std::size_t>(trimmed.end() - rest))));
  if (unit.ends_with("ib")) unit.resize(unit.size() - 2);
  if (unit.ends_with("b")) unit.pop_back();
  static constexpr std::string_view prefixes = "kmgt";
  const std::size_t power = unit.empty() ? 0 : prefixes.find(unit) + 1;
  const double bytes = value * std::pow(1024.0, static_cast<double>(power));
  if (status != std::errc() || unit.size() > 1 || (!unit.empty() && power == 0) || !(bytes >= 0) || bytes > 9.2e18)
    throw Error(ErrorKind::usage, fmt::format("\"{}\" is not a size in bytes", text))
        .hint("write for instance 8G or 512M");
  return static_cast<std::size_t>(bytes);
}

std::string format_seconds(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 120) return fmt::format("{:.0f} min {:02.0f} s", std::floor(seconds / 60), std::fmod(seconds, 60));
  if (size >= 1) return fmt::format("{:.3g} s", seconds);
  if (size >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string join_words(const std::vector<std::string>& words, std::string_view last_joint) {
  std::string joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined += i + 1 == words.size() ? last_joint : std::string_view(", ");
    joined += words[i];
  }
  return joined;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::vector<double> parse_numbers(std::string_view text, std::string_view name) {
  std::vector<double> numbers;
  for (const std::string& part : split(text, ',')) {
    const std::string_view word = trim(part);
    double value = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (problem != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
      throw Error(ErrorKind::usage, fmt::format("{} \"{}\": expected numbers with commas between", name, text));
    numbers.push_back(value);
  }
  return numbers;
}

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string wanted = to_lower(name);
  std::vector<std::pair<std::size_t, std::string>> close;
  for (const std::string& candidate : candidates) {
    const std::string known = to_lower(candidate);
    const std::size_t short_size = std::min(wanted.size(), known.size()),
                      long_size = std::max(wanted.size(), known.size());
    const std::size_t allowed = std::max<std::size_t>(1, long_size / 3);
    const bool beginning = wanted.size() > 1 && known.starts_with(wanted);
    // The distance is at least the difference in length, and costs their product: a line of a megabyte is not a name.
    if (!beginning && long_size - short_size > allowed) continue;
    const std::size_t distance = edit_distance(wanted, known);
    if (beginning || distance <= allowed) close.emplace_back(distance, candidate);
  }
  std::stable_sort(close.begin(), close.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, close.size()); ++i) names.push_back(close[i].second);
  return names;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  std::vector<std::string> names = nearest_names(name, candidates);
  if (names.empty()) return "";
  for (std::string& candidate : names) candidate.insert(0, 1, '"').push_back('"');
  return "; did you mean " + join_words(names, " or ") + "?";
}

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      while (i < a.size() && a[i] == '0') ++i;
      while (j < b.size() && b[j] == '0') ++j;
      std::size_t end_a = i, end_b = j;
      while (end_a < a.size() && is_digit(a[end_a])) ++end_a;
      while (end_b < b.size() && is_digit(b[end_b])) ++end_b;
      if (end_a - i != end_b - j) return end_a - i < end_b - j;
      const int order = a.substr(i, end_a - i).compare(b.substr(j, end_b - j));
      if (order != 0) return order < 0;
      i = end_a;
      j = end_b;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  // Names equal as numbers ("a01", "a1") still need a strict order.
  return (a.size() - i) != (b.size() - j) ? a.size() - i < b.size() - j : a < b;
}

}  // namespace sonde
