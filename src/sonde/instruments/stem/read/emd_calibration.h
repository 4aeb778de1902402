// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// Adds what py4DSTEM knows of a data set: the group metadatabundle/calibration beside it or above. Its x is along the
/// rows, so its rotation r is -r here, the direction of its ellipse theta is pi/2 - theta, and qx0 is y. Its steps come
/// before those of the axes. What it states and cannot be used is noted. `frames`: of the data set.
void take_emd_calibration(const Hdf5File& file, const std::string& dataset, Index frames, Acquisition& acquisition);

/// The path of that group; empty where there is none.
[[nodiscard]] std::string emd_calibration_group(const Hdf5File& file, const std::string& dataset);

}  // namespace sonde::stem
