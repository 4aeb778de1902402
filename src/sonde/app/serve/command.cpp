// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/command.h"

#include <fmt/format.h>

#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/json.h"

namespace sonde::serve {

panel::Command parse_command(std::string_view text) {
  if (text.size() > longest_command_bytes)
    throw Error(ErrorKind::bad_file,
                fmt::format("a command of {} bytes; at most {} are read", text.size(), longest_command_bytes));
  const Value message = parse_json(text, "command");
  if (!message.is_object())
    throw Error(ErrorKind::bad_input, fmt::format("a command is an object, this is {}", message.type_name()));
  panel::Command command;
  bool has_id = false;
  for (const auto& [key, value] : message.members()) {
    if (key == "id") {
      constexpr auto largest = std::numeric_limits<std::uint32_t>::max();
      if (!value.is_whole() || value.as_whole() < 1 || value.as_whole() > largest)
        throw Error(ErrorKind::bad_input, fmt::format("the id of a command is a whole number from 1 to {}", largest));
      command.id = static_cast<std::uint32_t>(value.as_whole());
      has_id = true;
    } else if (key == "command") {
      if (!value.is_text() || value.as_text().empty())
        throw Error(ErrorKind::bad_input, "the name of a command is a text");
      command.name = value.as_text();
    } else {
      command.arguments[key] = value;
    }
  }
  if (!has_id || command.name.empty())
    throw Error(ErrorKind::bad_input, fmt::format("a command without \"{}\"", has_id ? "command" : "id"));
  return command;
}

}  // namespace sonde::serve
