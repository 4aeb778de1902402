// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/run/start.h"

namespace sonde::cli {

/// A command line, understood: the verb with its settings from defaults, configuration file and flags, in this order.
struct Parsed {
  Prepared prepared;
  bool wants_help = false;  ///< --help was given; nothing else was checked
};

/// Finds the command at the beginning of the words: its name and how many words it takes. Throws Error(usage) naming
/// the nearest commands when there is none; a group of commands ("stem") by itself lists its members.
[[nodiscard]] const Verb& find_command(const std::vector<std::string>& words);

/// Throws Error(usage) for an unknown command, flag or value, naming what was probably meant; Error(bad_file) for a
/// configuration file that cannot be read, and for unknown keys and wrong values in it.
[[nodiscard]] Parsed parse(const std::vector<std::string>& words);

}  // namespace sonde::cli
