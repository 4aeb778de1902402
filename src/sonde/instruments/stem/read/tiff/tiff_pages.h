// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/io/file.h"

namespace sonde::stem {

enum class TiffCompression { none, lzw, deflate, packbits };

/// How values were made smaller before they were compressed: the differences of neighbours in a row (predictor 2), or
/// of the bytes of floating-point values, most significant ones first (predictor 3, Adobe's Technical Note 3).
enum class TiffPrediction { none, differences, bytes_of_floats };

/// What all pages of a stack have in common.
struct TiffFrame {
  Index rows = 0, cols = 0;
  DType dtype = DType::u8;
  bool big_endian = false;
  TiffCompression compression = TiffCompression::none;
  TiffPrediction prediction = TiffPrediction::none;
  Index segment_rows = 0, segment_cols = 0;  ///< strips are as wide as the frame, tiles may reach over its edges

  [[nodiscard]] Index segments_across() const { return (cols + segment_cols - 1) / segment_cols; }
  [[nodiscard]] Index segments_down() const { return (rows + segment_rows - 1) / segment_rows; }
  [[nodiscard]] Index segments() const { return segments_across() * segments_down(); }
};

/// The stored bytes of a strip or tile.
struct TiffSegment {
  std::uint64_t offset = 0, bytes = 0;
};

/// The pages of a TIFF or BigTIFF file as frames of one kind (TIFF 6.0, Aldus 1992).
struct TiffPages {
  TiffFrame frame;
  std::vector<TiffSegment> segments;  ///< frame after frame, frame.segments() of each
  Index frames = 0;
  Index left_out = 0;                                              ///< pages of another size or type
  std::string description;                                         ///< of the first page
  std::vector<Index> described_shape;                              ///< of all pages together, as tifffile writes it
  std::optional<double> col_pixels_per_unit, row_pixels_per_unit;  ///< resolution of the first page
};

/// {"shape": [256, 256, 192, 192]} of the description that tifffile gives to an array: its shape when the last two are
/// rows and columns, else empty.
[[nodiscard]] std::vector<Index> shape_in_description(const std::string& description, Index rows, Index cols);

/// Walks the chain of directories. ImageJ's files beyond 4 GiB and tifffile's truncated ones have one directory and say
/// in their description how many frames follow it: those are found as well. Throws Error(bad_file) "FILE: damaged:
/// ...", Error(not_supported) for colour and for compressions that are not read.
[[nodiscard]] TiffPages read_tiff_pages(const File& file);

}  // namespace sonde::stem
