// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/panel/frame.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/load/pattern_preview.h"

namespace sonde::stem {

/// Images of a scan that is still being loaded, from the patterns of a grid of positions: each position shows what the
/// nearest one of the grid counts. Bad pixels that only the whole scan shows are still in them. Const access is
/// thread-safe.
class FirstLook {
 public:
  /// Decodes the grid from the file: at most 32 x 32 positions, and no more than 16 MiB of patterns; counts beyond
  /// 65535 are cut there. `shape` is (scan rows, scan cols, rows, cols) as loaded. Throws what decoding throws.
  FirstLook(PatternPreview& patterns, const Shape& shape);

  /// Positions of the grid along one axis, and what each of `extent` positions shows of them.
  [[nodiscard]] static Index place(Index k, Index grid, Index extent) { return (2 * k + 1) * extent / (2 * grid); }
  [[nodiscard]] static Index nearest(Index position, Index grid, Index extent) { return position * grid / extent; }
  [[nodiscard]] Index grid_rows() const { return grid_rows_; }
  [[nodiscard]] Index grid_cols() const { return grid_cols_; }

  /// In the mean of the grid's patterns; nothing where it has no beam.
  [[nodiscard]] const std::optional<Centre>& beam() const { return beam_; }
  /// (scan rows, scan cols): counts for a boolean mask on counts, else f32.
  [[nodiscard]] panel::Frame image(const Mask& mask) const;
  /// The first moment over the total, of rows or of columns, in pixels; f32.
  [[nodiscard]] panel::Frame moment(bool of_rows) const;

 private:
  /// (scan rows, scan cols) from one value per position of the grid.
  template <class T>
  [[nodiscard]] std::vector<T> spread(const std::vector<T>& grid) const;

  Index scan_rows_, scan_cols_, rows_, cols_;
  Index grid_rows_ = 1, grid_cols_ = 1;
  std::variant<std::vector<std::uint16_t>, std::vector<float>> patterns_;  // (grid rows, grid cols, rows, cols)
  std::optional<Centre> beam_;
};

}  // namespace sonde::stem
