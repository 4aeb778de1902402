// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/contents.h"

namespace sonde {

/// Throws Error(usage) unless the path ends in one of `suffixes` (".h5" stands for ".hdf5" too), naming them, and like
/// require_place(): before any work is done.
void require_contents_path(const std::string& path, const std::vector<std::string>& suffixes = {".nc", ".h5", ".npz"});

/// Writes by suffix, with the same names in each: .nc as NetCDF-4; .h5 as HDF5, with units, and the names of the axes
/// in DIMENSION_LABELS; .npz with attributes and axes as a text attributes_json. Uncompressed. The file appears under
/// its name when it is complete; equal contents give equal bytes. Throws like require_contents_path(), Error(io).
void write_contents(const std::string& path, const Contents& contents, const OutputRole& role = {});

}  // namespace sonde
