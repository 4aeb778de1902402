// SPDX-License-Identifier: Apache-2.0
// What the stem commands tell people and put into results.
#pragma once

#include <string>

#include "sonde/app/cli/command.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::cli {

/// Scan, detector, element type, files, calibration, masks: what the file says.
void say_acquisition(const Context& context, const stem::Acquisition& acquisition);

/// Records the stages of the load as phases of the report, its choices, and says them.
void report_load(Context& context, const stem::Dataset& dataset);

}  // namespace sonde::cli
