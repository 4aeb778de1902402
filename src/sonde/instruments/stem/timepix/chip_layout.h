// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// Where one chip of 256 x 256 pixels is on the detector.
struct Chip {
  Index number = 0;         ///< as chunks of the file name it
  Index x = 0, y = 0;       ///< column and row of its smallest corner on the detector
  Index quarter_turns = 0;  ///< clockwise on a screen, after the flip
  bool flip = false;        ///< its columns are mirrored
};

/// The chips of a detector, whose size is that of the rectangle around them.
class ChipLayout {
 public:
  /// Chip 0 by itself: 256 x 256.
  ChipLayout() : ChipLayout({Chip{}}) {}
  /// Throws Error(bad_input) for no chip, a number that occurs twice, and chips that overlap.
  explicit ChipLayout(std::vector<Chip> chips);

  [[nodiscard]] const std::vector<Chip>& chips() const { return chips_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }

  /// Where pixels of a chip are: its first one, and the steps on the detector for one of its columns and rows.
  struct Place {
    std::int32_t x = 0, y = 0, column_x = 1, column_y = 0, row_x = 0, row_y = 1;
    [[nodiscard]] std::uint16_t x_of(int column, int row) const {
      return static_cast<std::uint16_t>(x + column * column_x + row * row_x);
    }
    [[nodiscard]] std::uint16_t y_of(int column, int row) const {
      return static_cast<std::uint16_t>(y + column * column_y + row * row_y);
    }
  };
  /// nullptr where there is no chip of that number.
  [[nodiscard]] const Place* find(unsigned number) const {
    return number < places_.size() && places_[number] ? &*places_[number] : nullptr;
  }

 private:
  std::vector<Chip> chips_;
  Index rows_ = 0, cols_ = 0;
  std::array<std::optional<Place>, 256> places_{};
};

/// The layout of a TOML file with a table [[chip]] (number, x, y, quarter_turns, flip) for each chip. Throws
/// Error(bad_file) for what read_toml refuses, and what ChipLayout throws as a bad file.
[[nodiscard]] ChipLayout read_chip_layout(const std::string& path);
[[nodiscard]] ChipLayout parse_chip_layout(std::string_view text, const std::string& name);

}  // namespace sonde::stem
