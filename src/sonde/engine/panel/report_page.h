// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/options/value.h"
#include "sonde/engine/panel/page.h"

namespace sonde::panel {

/// A report of any command ("sonde.report/1", as read_report() gives it) to look at: what ran and where, the time of
/// its phases with their fractions of the machine's limits, its memory, its choices with their reasons, its checks, its
/// results, its options. All numbers are in the options of the panels ("Panels of the report page" in
/// docs/viewer-protocol.md); the page has no actions and nothing changes. Members that a report lacks are left out.
/// Throws Error(bad_input) where a list of the schema is no list.
[[nodiscard]] Page report_page(const Value& report);

}  // namespace sonde::panel
