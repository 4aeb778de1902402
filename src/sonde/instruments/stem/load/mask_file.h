// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// An image of the detector from an NPY, TIFF or PNG file (by extension), contiguous, as stored. Throws Error(bad_file)
/// when it has another size or cannot be read.
[[nodiscard]] Array read_detector_image(const std::string& path, Index rows, Index cols);

/// Sets the user_defined bit of every pixel that is non-zero in an image of the detector (NPY, TIFF or PNG by
/// extension). `bits` is (rows, cols). Throws Error(bad_file) when the image has another size or cannot be read.
void add_mask_file(const std::string& path, Index rows, Index cols, std::vector<std::uint32_t>& bits);

}  // namespace sonde::stem
