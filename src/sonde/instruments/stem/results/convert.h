// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// Writes a data set to another format, by the ending of `path`:
///   .npy           (scan rows, scan cols, rows, cols)
///   .h5 .emd       EMD 1.0, read by py4DSTEM, HyperSpy and LiberTEM
///   _master.h5     the ARINA layout: one bitshuffle + LZ4 chunk per frame, with pixel mask and sidecar; counts only
/// Frames are decoded block after block, so that the whole scan need not fit into memory. Element type and bad pixels
/// are those of the data set. Returns the files written. Nothing has its name before everything is complete. Throws
/// Error(usage) for other endings, Error(bad_input) for floats in the ARINA layout and when the
/// files of the scan itself would be replaced, Error(io).
[[nodiscard]] std::vector<std::string> convert(const Dataset& dataset, const std::string& path);

/// Throws what convert() would throw for the name alone: Error(usage) for other endings, Error(io) when its folder is
/// not there.
void require_conversion_name(const std::string& path);

}  // namespace sonde::stem
