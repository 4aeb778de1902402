// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// The formats that are read.
enum class ScanFormat { hdf5, npy, zarr, mib, blo, empad, mrc, dm, tvips, tiff, ndata, raw };

/// Recognises a file (or a Zarr folder) by its content; raw frames by the options that describe them. Throws
/// Error(not_supported) with the format's name and what would help for formats that are known but not read,
/// Error(bad_file) for everything else, Error(usage) when options for raw files come with a file that says everything
/// itself.
[[nodiscard]] ScanFormat recognise(const std::string& path, const ReadOptions& options);

/// Whether this is a folder that is one scan (a Zarr array or group) rather than a folder with scans in it. Never
/// throws.
[[nodiscard]] bool is_scan_folder(const std::string& path);

}  // namespace sonde::stem
