// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/shape_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/instruments/stem/image/detector_shapes.h"

namespace sonde::stem {
namespace {

std::string joined(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ",", number);
  return text;
}

/// What `params` says of a shape: a list of numbers or, where its arguments repeat, a list of groups of them.
std::vector<double> params_of(const Arguments& arguments, const DetectorShape& shape) {
  const Value& params = arguments.value("params");
  if (shape.groups == 0 || !params.is_list() || params.size() == 0 || params.items().front().is_number())
    return arguments.reals("params");
  std::vector<std::string_view> names;
  for (const ShapeArgument& argument : shape.arguments) names.push_back(argument.name);
  std::vector<double> numbers;
  for (const Value& group : params.items()) {
    const bool whole =
        group.is_list() && group.size() == names.size() &&
        std::all_of(group.items().begin(), group.items().end(), [](auto& one) { return one.is_number(); });
    if (!whole)
      arguments.fail(fmt::format("\"params\" of a {} is a list of [{}]", shape.drawn_name(), fmt::join(names, ", ")));
    for (const Value& number : group.items()) numbers.push_back(number.as_real());
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
  std::vector<std::string> words;
  for (const DetectorShape& shape : detector_shapes()) words.emplace_back(shape.drawn_name());
  const std::string word = arguments.word("shape", words);
  const DetectorShape& shape =
      detector_shapes()[static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin())];
  return fmt::format("{}({})", shape.name, joined(params_of(arguments, shape)));
}

Value described_shapes() {
  Value shapes = Value::list();
  for (const DetectorShape& shape : detector_shapes()) {
    Value row;
    row["name"] = shape.drawn_name();
    row["form"] = shape.form();
    row["help"] = shape.help;
    row["arguments"] = Value::list();
    for (const ShapeArgument& argument : shape.arguments) {
      Value one;
      one["name"] = argument.name;
      one["role"] = name(argument.role);
      one["unit"] = unit(argument.role);
      row["arguments"].push_back(std::move(one));
    }
    row["optional"] = shape.optional;
    row["groups"] = shape.groups;
    shapes.push_back(std::move(row));
  }
  return shapes;
}

}  // namespace sonde::stem
