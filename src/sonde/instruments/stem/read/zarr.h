// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// A scan in a Zarr v2 folder: the array that --dataset names, else the one with most dimensions up to four and, among
/// those, most elements. Chunks are read and decoded together by read(). Throws like ZarrArray.
[[nodiscard]] std::unique_ptr<Source> open_zarr(const std::string& folder, const ReadOptions& options);

}  // namespace sonde::stem
