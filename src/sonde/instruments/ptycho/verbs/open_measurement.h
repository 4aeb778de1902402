// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/run/run.h"
#include "sonde/instruments/ptycho/read/source.h"

namespace sonde::ptycho {

/// Opens what ptychography reads itself; everything else as frames of another instrument (Run::open_frames), with the
/// checks of that one. `run` must live as long as the source.
[[nodiscard]] Source open_measurement(const DataSettings& settings, Run& run);

/// One line on what was opened.
void say_source(const Source& source, const Run& run);

}  // namespace sonde::ptycho
