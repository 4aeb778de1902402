// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sonde/engine/array/shape.h"
#include "sonde/instruments/stem/read/scan_shape.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// A scan in an NPY file: (Ry, Rx, Qy, Qx), (frames, Qy, Qx), or (Qy, Qx) for one frame. Throws like read_npy_header,
/// and Error(not_supported) for other numbers of dimensions and complex elements.
[[nodiscard]] std::unique_ptr<Source> open_npy(const std::string& path, const ReadOptions& options);

/// What the shape of an array says about a scan: the detector is the last two dimensions. `line` is the scan of an
/// array of three, where something else says it. Shared by NPY, Zarr and ndata. Throws Error(not_supported) naming the
/// path.
void apply_array_shape(Acquisition& acquisition, const Shape& shape, const ReadOptions& options,
                       const std::optional<StatedGrid>& line = std::nullopt);

}  // namespace sonde::stem
