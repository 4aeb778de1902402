// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sonde {

/// The ending of a file's name, which says how it is written: in lower case, ".h5" for ".hdf5" and ".tif" for ".tiff".
[[nodiscard]] std::string output_ending(const std::string& path);

/// output_ending(), when it is one of `endings`. Throws Error(usage) naming them otherwise; `what` is what is written:
/// "images".
std::string require_ending(const std::string& path, const std::string& what, const std::vector<std::string>& endings);

}  // namespace sonde
