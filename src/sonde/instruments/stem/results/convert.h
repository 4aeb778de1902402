// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// How a scan is loaded to be converted: counts stay as they are unless `options` ask for something else, so bad pixels
/// that the mask does not name are not changed; and frames go from file to file, unless a layout or bin auto is asked
/// for: the first pass finds the element type, the second writes.
[[nodiscard]] LoadOptions options_to_convert(LoadOptions options);

/// Writes a data set to another format, by the ending of `path`:
///   .npy           (scan rows, scan cols, rows, cols)
///   .h5 .emd       EMD 1.0, read by py4DSTEM, HyperSpy and LiberTEM
///   _master.h5     the ARINA layout: one bitshuffle + LZ4 chunk per frame, with pixel mask and sidecar; counts only
/// Frames are decoded block after block, so that the whole scan need not fit into memory. Element type and bad pixels
/// are those of the data set. Returns the files written. Nothing has its name before everything is complete. Throws
/// Error(usage) for other endings, Error(bad_input) for floats in the ARINA layout and when the
/// files of the scan itself would be replaced, Error(io).
[[nodiscard]] std::vector<std::string> convert(const Dataset& dataset, const std::string& path);

/// Throws what convert() would throw for the name: Error(usage) for other endings, Error(io) when its folder is
/// not there.
void require_conversion_name(const std::string& path);

}  // namespace sonde::stem
