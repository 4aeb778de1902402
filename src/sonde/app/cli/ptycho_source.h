// SPDX-License-Identifier: Apache-2.0
// Measurements for ptychography from any file: its own formats, and every scan that the stem instrument opens.
#pragma once

#include "sonde/app/cli/command.h"
#include "sonde/instruments/ptycho/read/source.h"

namespace sonde::cli {

/// Opens what ptychography reads itself; everything else as a 4D-STEM scan, with its masks and bad pixels left out, its
/// calibration taken along, and the detector binned as asked. Nothing is decoded before the first counts are asked for,
/// and never more than a few lines of the scan are held. `context` must live as long as the source.
[[nodiscard]] ptycho::Source open_measurement(const ptycho::DataSettings& settings, Context& context);

/// One line on what was opened.
void say_source(const ptycho::Source& source, const Context& context);

}  // namespace sonde::cli
