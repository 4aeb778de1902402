// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// A TIFF or BigTIFF whose pages are patterns in the order of the scan: greyscale whole or real numbers in strips or
/// tiles, plain or compressed with LZW, Deflate or PackBits. A pixel size in ImageJ's description gives the detector's
/// step when its unit is an angle or an inverse length.
[[nodiscard]] std::unique_ptr<Source> open_tiff_stack(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
