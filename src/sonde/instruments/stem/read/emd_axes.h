// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/read/acquisition.h"
#include "sonde/instruments/stem/read/axes/axis_units.h"

namespace sonde::stem {

/// The axis of dimension `dimension` (0 to 3) of a data set: "dim0" ... "dim3" (EMD 1.0) or "dim1" ... "dim4" (before)
/// in its group. Positions may be listed in full or as the first two of a linear axis.
[[nodiscard]] std::optional<AxisScale> emd_axis(const Hdf5File& file, const std::string& dataset, int dimension);

/// "EMD 1.0", "EMD 0.5" or "HDF5", by the nearest group above the data set that states a version.
[[nodiscard]] std::string emd_format(const Hdf5File& file, const std::string& dataset);

/// Fills scan and detector steps from the axes, as far as their units are lengths, inverse lengths or angles.
void take_emd_axes(const Hdf5File& file, const std::string& dataset, Acquisition& acquisition);

}  // namespace sonde::stem
