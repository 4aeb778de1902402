// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "sonde/engine/options/fields.h"
#include "sonde/engine/run/run.h"

namespace sonde::stem {

/// What was asked of a verb, without the names of its outputs and what depends on the machine: equal commands give
/// equal files.
template <class Options>
std::string command_of(std::string_view verb, Options options, const Run& run,
                       std::initializer_list<std::string_view> outputs) {
  std::string command = "sonde " + std::string(verb);
  const Fields own(options);
  for (const Field& field : own.all())
    if (run.settings().is_set(field.key) && !field.positional &&
        std::find(outputs.begin(), outputs.end(), field.key) == outputs.end())
      command += " " + field.key + "=" + field.text();
  return command;
}

}  // namespace sonde::stem
