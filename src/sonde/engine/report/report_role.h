// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/io/atomic_file.h"

namespace sonde {

/// What a report is to the run that writes it.
[[nodiscard]] inline OutputRole report_role() { return side_output("the report", FileMark::json); }

}  // namespace sonde
