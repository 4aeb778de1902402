// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

/// Halves upwards, so that fractions lie in [-1/2, 1/2).
Index round_up(double value) {
  const double whole = std::floor(value);
  return static_cast<Index>(whole) + (value - whole >= 0.5 ? 1 : 0);  // value + 0.5 would round just below one half
}

constexpr double farthest = 0x1p50;  // beyond it whole pixels and their fractions are no longer distinguished

struct Range {
  Point least, most;
};

Range range_of(std::span<const Point> positions) {
  if (positions.empty()) throw Error(ErrorKind::bad_input, "there are no scan positions");
  Range range{positions[0], positions[0]};
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Point& point = positions[i];
    if (!std::isfinite(point.row) || !std::isfinite(point.col))
      throw Error(ErrorKind::bad_input, fmt::format("position {} is ({}, {})", i, point.row, point.col));
    range.least = {std::min(range.least.row, point.row), std::min(range.least.col, point.col)};
    range.most = {std::max(range.most.row, point.row), std::max(range.most.col, point.col)};
  }
  const double span = std::max(range.most.row - range.least.row, range.most.col - range.least.col);
  if (span > 0x1p30 || std::abs(range.least.row) > farthest || std::abs(range.least.col) > farthest)
    throw Error(ErrorKind::bad_input, fmt::format("the scan positions span {:.3g} object pixels", span))
        .hint("check positions.unit and the pixel size");
  return range;
}

}  // namespace

Placement place(Point position, Window window) {
  const Index row = round_up(position.row), col = round_up(position.col);
  return {row - window.rows / 2, col - window.cols / 2, position.row - static_cast<double>(row),
          position.col - static_cast<double>(col)};
}

std::vector<Placement> place_all(std::span<const Point> positions, Window window) {
  std::vector<Placement> placements;
  placements.reserve(positions.size());
  for (const Point& position : positions) {
    if (!std::isfinite(position.row) || !std::isfinite(position.col))
      throw Error(ErrorKind::bad_input, fmt::format("position {} is ({}, {}); expected finite numbers",
                                                    placements.size(), position.row, position.col));
    if (std::abs(position.row) > farthest || std::abs(position.col) > farthest)
      throw Error(ErrorKind::bad_input, fmt::format("position {} is ({:.3g}, {:.3g}) object pixels; expected less than "
                                                    "2^50",
                                                    placements.size(), position.row, position.col));
    placements.push_back(place(position, window));
  }
  return placements;
}

ObjectExtent object_extent(std::span<const Point> positions, Window window, Index margin) {
  const Range range = range_of(positions);
  const Placement first = place(range.least, window), last = place(range.most, window);
  return {last.row - first.row + window.rows + 2 * margin,
          last.col - first.col + window.cols + 2 * margin,
          {static_cast<double>(margin - first.row), static_cast<double>(margin - first.col)}};
}

std::vector<Point> moved(std::span<const Point> positions, Point offset) {
  std::vector<Point> result(positions.begin(), positions.end());
  for (Point& point : result) {
    point.row += offset.row;
    point.col += offset.col;
  }
  return result;
}

void require_inside(std::span<const Placement> placements, Window window, Index rows, Index cols) {
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const Placement& at = placements[i];
    if (at.row < 0 || at.col < 0 || at.row + window.rows > rows || at.col + window.cols > cols)
      throw Error(ErrorKind::bad_input,
                  fmt::format("the window of position {} covers rows {} to {} and columns {} to {}, outside of the "
                              "object of {} x {} pixels",
                              i, at.row, at.row + window.rows - 1, at.col, at.col + window.cols - 1, rows, cols));
  }
}

Box box_of(std::span<const Index> members, std::span<const Placement> placements, Window window) {
  const Placement& start = placements[static_cast<std::size_t>(members[0])];
  Index top = start.row, left = start.col, bottom = top, right = left;
  for (const Index member : members) {
    const Placement& at = placements[static_cast<std::size_t>(member)];
    top = std::min(top, at.row);
    left = std::min(left, at.col);
    bottom = std::max(bottom, at.row);
    right = std::max(right, at.col);
  }
  return {top, left, bottom - top + window.rows, right - left + window.cols};
}

Box field_of_view(std::span<const Point> positions) {
  const Range range = range_of(positions);
  const Index row = round_up(range.least.row), col = round_up(range.least.col);
  return {row, col, round_up(range.most.row) - row + 1, round_up(range.most.col) - col + 1};
}

}  // namespace sonde::ptycho
