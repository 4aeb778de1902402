// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/correct/bad_pixels.h"

namespace sonde::testing {

/// The pattern sum of a made-up detector.
struct PixelSums {
  Index rows, cols;
  std::vector<std::uint64_t> value;

  PixelSums(Index rows_, Index cols_, std::uint64_t fill = 0)
      : rows(rows_), cols(cols_), value(static_cast<std::size_t>(rows_ * cols_), fill) {}
  std::uint64_t& operator()(Index row, Index col) { return value[static_cast<std::size_t>(row * cols + col)]; }
  [[nodiscard]] stem::PixelStatistics statistics() const {
    stem::PixelStatistics statistics;
    statistics.sum = {value.data(), rows, cols};
    return statistics;
  }
};

/// Where the found pixels lie, as (row, col).
inline std::set<std::pair<Index, Index>> places(const std::vector<stem::BadPixel>& found) {
  std::set<std::pair<Index, Index>> all;
  for (const stem::BadPixel& pixel : found) all.emplace(pixel.row, pixel.col);
  return all;
}

}  // namespace sonde::testing
