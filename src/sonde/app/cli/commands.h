// SPDX-License-Identifier: Apache-2.0
// The verbs of the program itself, one function per file; commands.cpp puts them in order.
#pragma once

#include <vector>

#include "sonde/engine/run/verb.h"

namespace sonde::cli {

Verb bench_command();
Verb demo_command();
Verb devices_command();
Verb help_command();
Verb machine_command();
Verb report_compare_command();
Verb report_show_command();
Verb view_command();

/// Every verb of the program, in the order of the overview: those of the instruments, then its own.
[[nodiscard]] const std::vector<Verb>& verbs();

}  // namespace sonde::cli
