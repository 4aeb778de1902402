// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// Nion Swift's own format: a ZIP archive with the array as data.npy, stored without compression, and its calibrations
/// in metadata.json. Throws Error(not_supported) when the array is compressed.
[[nodiscard]] std::unique_ptr<Source> open_ndata(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
