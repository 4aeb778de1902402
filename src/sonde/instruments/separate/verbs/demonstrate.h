// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "sonde/engine/run/instrument.h"

namespace sonde::separate {

/// Renders a drum loop over music, separates it with the small network that comes with the program, writes stems, MIDI,
/// scores and a figure into the folder, and records as a check of the report how far the mean SDR rises over that of
/// the mixture.
void demonstrate_separation(const std::filesystem::path& folder, double seconds, Run& run);

/// Throws Error(bad_input) where a file of somebody else has a name that the demonstration would write.
void check_demo_folder(const std::filesystem::path& folder);

/// The part of `sonde demo`: ten seconds of that.
void demonstrate(const Demonstration& demo, Run& run);

}  // namespace sonde::separate
