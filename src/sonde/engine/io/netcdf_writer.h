// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/contents.h"

namespace sonde {

/// classic: 64-bit offsets (CDF-2), elements i8, i16, i32, f32 and f64; the form in which equilibria are exchanged.
/// netcdf4: on HDF5, contiguous and uncompressed; for results.
enum class NetcdfFormat { classic, netcdf4 };

/// Writes a file that appears under its name only when whole; equal contents give equal bytes. Throws Error(io) naming
/// the file when it cannot be written, Error(not_supported) for element types, empty dimensions and integers beyond 32
/// bits that the classic format does not have, and when a dimension is not equally long everywhere.
void write_netcdf(const std::string& path, const Contents& contents, NetcdfFormat format, const OutputRole& role = {});

}  // namespace sonde
