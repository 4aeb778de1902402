// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/read/axes/axis_units.h"
#include "sonde/instruments/stem/read/scan_shape.h"

namespace sonde::stem {

/// What HyperSpy writes beside a signal, in HDF5 (.hspy) and Zarr (.zspy): one axis per dimension, and the microscope.
struct HyperspySignal {
  struct Axis {
    AxisScale scale;
    bool navigates = false;  ///< an axis of the scan, not of the pattern
  };
  std::vector<Axis> axes;  ///< in the order of the array's dimensions
  std::optional<Quantity> high_tension_v, camera_length_m;
};

/// Nothing when the array has no "axis-0" beside it.
[[nodiscard]] std::optional<HyperspySignal> read_hyperspy(const Hdf5File& file, const std::string& dataset, int rank);
/// The same of an array in a Zarr folder: `array` is the array's own folder.
[[nodiscard]] std::optional<HyperspySignal> read_hyperspy_zarr(const std::string& array, int rank);

/// Fills the calibration, and the scan shape where the axes are those of a line. Throws Error(not_supported) unless
/// the last two axes and no other are those of a pattern.
[[nodiscard]] std::optional<StatedGrid> take_hyperspy(const HyperspySignal& signal, const Shape& shape,
                                                      Acquisition& acquisition);

}  // namespace sonde::stem
