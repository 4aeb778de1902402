// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/array/array.h"

namespace sonde {

/// What is stored beside the pixels, in the form that ImageJ understands.
struct TiffTags {
  std::optional<double> row_step, col_step;  ///< size of a pixel in `unit`
  std::string unit;                          ///< "nm", "1/A", ...
  std::string description;  ///< further lines of the image description, for instance provenance as JSON
};

/// Writes (rows, cols) or a stack (pages, rows, cols) of u8, u16, u32 or f32, uncompressed, atomically; BigTIFF when
/// the file passes 4 GiB. Arrays elsewhere or with strides are copied to the host first. Throws Error(bad_input) for
/// other arrays, Error(io).
void write_tiff(const std::string& path, const Array& images, const TiffTags& tags = {});

/// A greyscale image of one page, (rows, cols), of the same types. Throws Error(not_supported) for colour, tiles, other
/// types and several pages, Error(bad_file) for broken files.
[[nodiscard]] Array read_tiff(const std::string& path);

}  // namespace sonde
