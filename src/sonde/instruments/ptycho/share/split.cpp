// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/share/split.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace sonde::ptycho {
namespace {

Point place_of(const Placement& at) {
  return {static_cast<double>(at.row) + at.shift_row, static_cast<double>(at.col) + at.shift_col};
}

void split(std::span<const Placement> placements, std::span<Index> frames, Index regions,
           std::vector<std::vector<Index>>& result) {
  if (regions <= 1) {
    result.emplace_back(frames.begin(), frames.end());
    std::sort(result.back().begin(), result.back().end());
    return;
  }
  const auto place = [&](Index frame) { return place_of(placements[static_cast<std::size_t>(frame)]); };
  double top = 1e300, left = 1e300, bottom = -1e300, right = -1e300;
  for (const Index frame : frames) {
    const Point at = place(frame);
    top = std::min(top, at.row), bottom = std::max(bottom, at.row);
    left = std::min(left, at.col), right = std::max(right, at.col);
  }
  const bool across_rows = bottom - top >= right - left;
  // The other coordinate and the number decide between equals, so that a cut line of a raster is cut once.
  std::sort(frames.begin(), frames.end(), [&](Index a, Index b) {
    const Point p = place(a), q = place(b);
    return across_rows ? std::tuple(p.row, p.col, a) < std::tuple(q.row, q.col, b)
                       : std::tuple(p.col, p.row, a) < std::tuple(q.col, q.row, b);
  });
  const Index half = regions / 2;
  const std::size_t first = frames.size() * static_cast<std::size_t>(half) / static_cast<std::size_t>(regions);
  split(placements, frames.first(first), half, result);
  split(placements, frames.subspan(first), regions - half, result);
}

}  // namespace

std::vector<std::vector<Index>> split_frames(std::span<const Placement> placements, Index regions) {
  std::vector<Index> frames(placements.size());
  std::iota(frames.begin(), frames.end(), Index{0});
  std::vector<std::vector<Index>> result;
  split(placements, frames, regions, result);
  return result;
}

Box overlap(const Box& a, const Box& b) {
  const Index top = std::max(a.row, b.row), bottom = std::min(a.row + a.rows, b.row + b.rows);
  const Index left = std::max(a.col, b.col), right = std::min(a.col + a.cols, b.col + b.cols);
  if (bottom <= top || right <= left) return {};
  return {top, left, bottom - top, right - left};
}

}  // namespace sonde::ptycho
