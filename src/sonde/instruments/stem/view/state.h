// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/results/detector_images.h"

namespace sonde::stem {

/// What a saved state of the viewer says it is.
inline constexpr std::string_view state_schema = "sonde.view.state/1";

/// The scan that a saved state shows, and the detectors on it: what makes its images again.
struct StateScan {
  std::string path;
  Value record;  ///< provenance of the scan when the state was saved
  LoadOptions load;
  DetectorOptions detectors;  ///< those of all channels, each once, with the beam as it was
};

/// Throws Error(bad_file) naming `where` for what is no state, and Error(bad_input) for one without a detector or saved
/// before its scan was loaded.
[[nodiscard]] StateScan scan_of_state(const Value& state, const std::string& where);

}  // namespace sonde::stem
