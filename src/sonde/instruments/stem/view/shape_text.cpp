// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/shape_text.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

namespace sonde::stem {
namespace {

std::string joined(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ",", number);
  return text;
}

/// Rows of [row, col0, col1] as one list of numbers.
std::vector<double> flat_runs(const Arguments& arguments) {
  const Value& rows = arguments.value("params");
  std::vector<double> numbers;
  if (!rows.is_list()) arguments.fail("\"params\" of a brush is a list of [row, col0, col1]");
  for (const Value& run : rows.items()) {
    if (!run.is_list() || run.size() != 3) arguments.fail("\"params\" of a brush is a list of [row, col0, col1]");
    for (const Value& number : run.items()) {
      if (!number.is_whole()) arguments.fail("\"params\" of a brush holds whole numbers: [row, col0, col1]");
      numbers.push_back(number.as_real());
    }
  }
  return numbers;
}

/// A number of a text without digits that nobody reads: at most three after the point.
std::string short_number(const std::string& number) {
  std::string text = fmt::format("{:.3f}", std::strtod(number.c_str(), nullptr));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string short_expression(const std::string& text, std::size_t longest) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const auto digit = [&](std::size_t i) {
      return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));
    };
    const bool inside_word = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 ||
                                        text[at - 1] == '_' || text[at - 1] == '.');
    std::size_t end = at;
    while (digit(end)) ++end;
    const bool fraction = end > at && !inside_word && end < text.size() && text[end] == '.' && digit(end + 1);
    if (!fraction) {
      made += text[at++];
      continue;
    }
    ++end;
    while (digit(end)) ++end;
    made += short_number(text.substr(at, end - at));
    at = end;
  }
  if (made.size() > longest) made = made.substr(0, longest) + "...";
  return made;
}

std::string expression_of(const Arguments& arguments) {
  if (arguments.has("expr") && arguments.has("shape")) arguments.fail("both \"expr\" and \"shape\" are given");
  if (arguments.has("expr")) return arguments.text("expr");
  if (!arguments.has("shape")) arguments.fail("neither \"expr\" nor \"shape\" is given");
  const std::string shape =
      arguments.word("shape", {"circle", "annulus", "rect", "polygon", "point", "segment", "brush"});
  if (shape == "brush") return fmt::format("runs({})", joined(flat_runs(arguments)));
  return fmt::format("{}({})", shape, joined(arguments.reals("params")));
}

}  // namespace sonde::stem
