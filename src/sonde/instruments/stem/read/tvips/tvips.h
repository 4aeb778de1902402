// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// A recording of a TVIPS camera: a series header and frames in NAME_000.tvips, further frames in NAME_001.tvips and
/// so on, every frame behind a header of its own. Frames are in the order of time. The high tension, and the physical
/// size of a pixel where one is stored, become calibration; the camera length is stored without its unit and stays
/// metadata. Throws Error(bad_file), and Error(bad_input) for a part other than the first.
[[nodiscard]] std::unique_ptr<Source> open_tvips(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
