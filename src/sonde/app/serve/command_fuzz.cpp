// SPDX-License-Identifier: Apache-2.0
// Any bytes are a command or an Error of one of two kinds; a command that was read survives being written and read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sonde/app/serve/command.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/report/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  sonde::panel::Command command;
  try {
    command = sonde::serve::parse_command({reinterpret_cast<const char*>(bytes), size});
  } catch (const sonde::Error& error) {
    if (error.kind() != sonde::ErrorKind::bad_file && error.kind() != sonde::ErrorKind::bad_input) std::abort();
    return 0;
  }
  if (command.id == 0 || command.name.empty()) std::abort();
  sonde::Value message = command.arguments;
  message["id"] = command.id;
  message["command"] = command.name;
  const std::string text = sonde::to_json(message, -1);
  if (text.size() > sonde::serve::longest_command_bytes) return 0;  // escapes can make it longer
  const auto again = sonde::serve::parse_command(text);
  if (again.id != command.id || again.name != command.name || !(again.arguments == command.arguments)) std::abort();
  return 0;
}
