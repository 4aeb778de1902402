// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/read/acquisition.h"
#include "sonde/instruments/stem/read/scan_shape.h"

namespace sonde::stem {

/// What the microscope wrote beside an ARINA acquisition, in the attributes of the group "STEM Metadata" of
/// "<base>.h5". Fields that are absent or zero were not recorded.
struct Sidecar {
  std::optional<StatedGrid> grid;
  Calibration calibration;                      ///< high tension, camera length, scan step and rotation
  std::map<std::string, std::string> metadata;  ///< every attribute
};

/// Whether this file is such a sidecar.
[[nodiscard]] bool is_sidecar(const Hdf5File& file);

[[nodiscard]] Sidecar read_sidecar(const Hdf5File& file);

}  // namespace sonde::stem
