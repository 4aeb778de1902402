// SPDX-License-Identifier: Apache-2.0
// What all ranks must decide alike or know together. Every rank calls it.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/ranks/ranks.h"

namespace sonde {

/// Whether any rank says so.
[[nodiscard]] bool any_of(const Ranks& ranks, bool here);

/// check_interrupt() of all ranks: throws on every rank where it would on one, so that none waits for one that has
/// left. Where SIGTERM may wait, all go on until the first one's wait is over.
void check_interrupt(const Ranks& ranks);

/// On rank 0 the lines of all ranks, in the order of ranks; empty on the others. A line has no line feed.
[[nodiscard]] std::vector<std::string> gather_lines(const Ranks& ranks, const std::vector<std::string>& lines);

}  // namespace sonde
