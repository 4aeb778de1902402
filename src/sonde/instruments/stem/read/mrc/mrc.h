// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// Frames in an MRC file, rows in the order of the file, the first on top. The scan shape and calibration come from the
/// text files of Direct Electron where they are beside the movie, high tension and camera length from the extended
/// header of FEI and Thermo Fisher. The size of the cell is that of an image and is not used.
[[nodiscard]] std::unique_ptr<Source> open_mrc(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
