// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde::stem {

/// Throws Error(not_supported) naming the channels when the second axis of a data set of four dimensions counts
/// channels of the detector (thresholds of energy) instead of scan columns: NeXus NXmx with an axis "channel", or a
/// data file of such a master, whose first axis counts images. Taken as a scan such frames would be in wrong places.
void require_no_channels(const Hdf5File& file, const std::string& dataset, const Shape& shape);

}  // namespace sonde::stem
