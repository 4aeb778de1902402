// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/ptycho/report/findings.h"

namespace sonde::ptycho {

/// One thing to try next.
struct Advice {
  std::string what;      ///< "Take more iterations"
  std::string why;       ///< the number that says so
  std::string settings;  ///< lines of a run file, or a command; empty where there are none
};

/// What the findings suggest, the most useful first; what a suspect diagnosis suggests comes last and only once. Empty
/// when there is nothing to improve.
[[nodiscard]] std::vector<Advice> advice_for(const Findings& findings);

}  // namespace sonde::ptycho
