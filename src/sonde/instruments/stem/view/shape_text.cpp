// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/shape_text.h"

#include <fmt/format.h>

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

}  // namespace

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
