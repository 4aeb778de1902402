// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"

namespace sonde {

/// What one instrument asks for of a file of frames that another one reads.
struct FramesRequest {
  std::string file{};
  std::string dataset{};     ///< inside the file; empty: the reader finds it
  std::string scan_shape{};  ///< "ROWS,COLS" where the file does not say it
  Index detector_bin = 1;
};

/// A raster of frames that another instrument opened, not yet read, with every check that goes with it.
struct Frames {
  std::string file, format;
  Shape shape;  ///< (frames, rows, columns), binned
  DType dtype = DType::u16;
  Index scan_rows = 0, scan_cols = 0;
  Index together = 1;             ///< frames that the file keeps in one piece
  std::size_t reading_bytes = 0;  ///< that the reader holds beside the frames it gives
  std::optional<double> energy_kev, mrad_per_px, inv_a_per_px, step_a;
  std::vector<std::string> warnings;
  /// Reads all frames once: `named` (rows, columns; 1 where a pixel counts; empty: everywhere) without the pixels that
  /// the file's mask and its counts call bad. Throws Error(bad_input) where a pixel that is left has no value.
  std::function<std::vector<std::uint8_t>(const std::vector<std::uint8_t>& named)> find_good;
  std::function<Array(Index first, Index count)> read;
};

}  // namespace sonde
