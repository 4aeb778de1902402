// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sonde/engine/array/shape.h"
#include "sonde/instruments/stem/read/acquisition.h"
#include "sonde/instruments/stem/read/scan_shape.h"

namespace sonde::stem {

/// Fills the calibration from what Nion Swift stores beside an array (JSON, in .ndata archives and HDF5 files): the
/// calibrations of its dimensions, and the high tension of the instrument. Returns the scan shape of a line of
/// patterns. Text without "dimensional_calibrations" changes nothing. Throws Error(bad_file) when it is not JSON,
/// Error(not_supported) when an element of the array is no pattern (two datum dimensions); `name` stands in messages.
[[nodiscard]] std::optional<StatedGrid> take_nion_properties(std::string_view json, const Shape& shape,
                                                             const std::string& name, Acquisition& acquisition);

}  // namespace sonde::stem
