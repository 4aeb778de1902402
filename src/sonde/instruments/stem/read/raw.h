// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// Frames without any header, as --shape, --raw-dtype, --raw-big-endian, --offset and --gap describe them. The shape is
/// (Ry, Rx, Qy, Qx) or (Qy, Qx) with the number of frames from the file's size. Throws Error(usage) when the
/// description is incomplete, Error(bad_file) when it does not fit the file.
[[nodiscard]] std::unique_ptr<Source> open_raw(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
