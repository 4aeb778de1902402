// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::stem {

Arguments::Arguments(const panel::Command& command, const std::vector<std::string>& known) : command_(command) {
  if (!command.arguments.is_object())
    fail(fmt::format("arguments are an object, not a {}", command.arguments.type_name()));
  for (const auto& [name, value] : command.arguments.members())
    if (name != "dataset" && std::find(known.begin(), known.end(), name) == known.end())
      fail(fmt::format("unknown argument \"{}\"{}", name, did_you_mean(name, known)),
           known.empty() ? "it takes none" : "it takes " + join_words(known));
}

void Arguments::fail(const std::string& message, const std::string& hint) const {
  Error error(ErrorKind::bad_input, fmt::format("{}: {}", command_.name, message));
  if (!hint.empty()) error.hint(hint);
  throw error;
}

const Value* Arguments::find(std::string_view name) const {
  const Value* found = command_.arguments.find(name);
  return found != nullptr && !found->is_null() ? found : nullptr;
}

const Value& Arguments::need(std::string_view name, std::string_view what) const {
  const Value* found = find(name);
  if (found == nullptr) fail(fmt::format("no \"{}\" was given, expected {}", name, what));
  return *found;
}

Index Arguments::whole(std::string_view name, Index least, Index most) const {
  const Value& value = need(name, "a whole number");
  if (!value.is_whole()) fail(fmt::format("\"{}\" is a {}, expected a whole number", name, value.type_name()));
  const Index number = value.as_whole();
  if (number < least || number > most) {
    if (most < least) fail(fmt::format("\"{}\" is {}, but there is nothing to choose from", name, number));
    fail(fmt::format("\"{}\" is {}, expected {} to {}", name, number, least, most));
  }
  return number;
}

Index Arguments::whole_or(std::string_view name, Index least, Index most, Index otherwise) const {
  return has(name) ? whole(name, least, most) : otherwise;
}

double Arguments::real(std::string_view name) const {
  const Value& value = need(name, "a number");
  if (!value.is_number()) fail(fmt::format("\"{}\" is a {}, expected a number", name, value.type_name()));
  return value.as_real();
}

bool Arguments::truth_or(std::string_view name, bool otherwise) const {
  const Value* value = find(name);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) fail(fmt::format("\"{}\" is a {}, expected true or false", name, value->type_name()));
  return value->as_bool();
}

const std::string& Arguments::text(std::string_view name) const {
  const Value& value = need(name, "a text");
  if (!value.is_text()) fail(fmt::format("\"{}\" is a {}, expected a text", name, value.type_name()));
  return value.as_text();
}

std::string Arguments::word(std::string_view name, const std::vector<std::string>& words) const {
  const std::string& given = text(name);
  if (std::find(words.begin(), words.end(), given) == words.end())
    fail(fmt::format("\"{}\" is \"{}\"{}", name, given, did_you_mean(given, words)), "known are " + join_words(words));
  return given;
}

std::vector<double> Arguments::reals(std::string_view name) const {
  const Value& value = need(name, "a list of numbers");
  const auto wrong = [&](const Value& found) {
    fail(fmt::format("\"{}\" holds a {}, expected a list of numbers", name, found.type_name()));
  };
  if (!value.is_list()) fail(fmt::format("\"{}\" is a {}, expected a list of numbers", name, value.type_name()));
  std::vector<double> numbers;
  for (const Value& item : value.items()) {
    if (!item.is_number()) wrong(item);
    numbers.push_back(item.as_real());
  }
  return numbers;
}

const Value& Arguments::value(std::string_view name) const { return need(name, "a value"); }

}  // namespace sonde::stem
