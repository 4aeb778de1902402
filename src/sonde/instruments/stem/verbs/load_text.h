// SPDX-License-Identifier: Apache-2.0
// What the stem commands tell people and put into results.
#pragma once

#include <string>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// Scan, detector, element type, files, calibration, masks: what the file says.
void say_acquisition(const Run& run, const Acquisition& acquisition);

/// Scan, detector, calibration and what the load gave: the first lines of a command that loads a scan.
void say_result(const Run& run, const Dataset& dataset);

/// Records a choice "what: value" with its reason, and says it.
void report_choice(Run& run, const Choice<std::string>& choice);

/// Records the stages of the load as phases of the report, its choices, and says them; goes behind say_result().
void report_load(Run& run, const Dataset& dataset);

}  // namespace sonde::stem
