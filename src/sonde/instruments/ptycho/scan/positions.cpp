// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

Point mean_of(std::span<const Point> points) {
  Point mean;
  for (const Point& point : points) {
    mean.row += point.row;
    mean.col += point.col;
  }
  const auto count = static_cast<double>(points.size());
  return {mean.row / count, mean.col / count};
}

void require_finite(std::span<const Point> points) {
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!std::isfinite(points[i].row) || !std::isfinite(points[i].col))
      throw Error(ErrorKind::bad_input, fmt::format("position {} is ({}, {})", i, points[i].row, points[i].col));
}

std::vector<Point> scaled(std::span<const Point> points, double rows, double cols) {
  std::vector<Point> result(points.begin(), points.end());
  for (Point& point : result) {
    point.row *= rows;
    point.col *= cols;
  }
  return result;
}

/// Points sorted into square cells that hold one or two each.
class Cells {
 public:
  explicit Cells(std::span<const Point> points) : points_(points) {
    Point least = points[0], most = points[0];
    for (const Point& point : points) {
      least = {std::min(least.row, point.row), std::min(least.col, point.col)};
      most = {std::max(most.row, point.row), std::max(most.col, point.col)};
    }
    least_ = least;
    const double height = most.row - least.row, width = most.col - least.col;
    const auto count = static_cast<double>(points.size());
    // A line of points has no area: then the length decides.
    side_ = std::max(std::sqrt(height * width / count), std::max(height, width) / count);
    if (!(side_ > 0)) side_ = 1;
    rows_ = static_cast<Index>(height / side_) + 1;
    cols_ = static_cast<Index>(width / side_) + 1;
    first_.assign(static_cast<std::size_t>(rows_ * cols_ + 1), 0);
    for (const Point& point : points) ++first_[static_cast<std::size_t>(cell(point) + 1)];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    std::vector<Index> at(first_.begin(), first_.end() - 1);
    members_.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      members_[static_cast<std::size_t>(at[static_cast<std::size_t>(cell(points[i]))]++)] = static_cast<Index>(i);
  }

  [[nodiscard]] double nearest_distance(Index which) const {
    const Point& here = points_[static_cast<std::size_t>(which)];
    const Index home = cell(here), row = home / cols_, col = home % cols_;
    double least = std::numeric_limits<double>::infinity();
    // Whatever lies in ring r + 1 is at least r cells away.
    for (Index ring = 0; ring <= std::max(rows_, cols_); ++ring) {
      if (least <= static_cast<double>(ring - 1) * side_) break;
      for (Index i = std::max<Index>(row - ring, 0); i <= std::min(row + ring, rows_ - 1); ++i) {
        const bool edge = i == row - ring || i == row + ring;
        for (Index k = col - ring; k <= col + ring; k += edge || ring == 0 ? 1 : 2 * ring)
          if (k >= 0 && k < cols_) least = std::min(least, nearest_in(i * cols_ + k, which));
      }
    }
    return least;
  }

 private:
  [[nodiscard]] Index cell(const Point& point) const {
    const Index row = std::min(static_cast<Index>((point.row - least_.row) / side_), rows_ - 1);
    const Index col = std::min(static_cast<Index>((point.col - least_.col) / side_), cols_ - 1);
    return row * cols_ + col;
  }
  [[nodiscard]] double nearest_in(Index cell, Index which) const {
    const Point& here = points_[static_cast<std::size_t>(which)];
    double least = std::numeric_limits<double>::infinity();
    for (Index i = first_[static_cast<std::size_t>(cell)]; i < first_[static_cast<std::size_t>(cell + 1)]; ++i) {
      const Index other = members_[static_cast<std::size_t>(i)];
      if (other == which) continue;
      const Point& there = points_[static_cast<std::size_t>(other)];
      least = std::min(least, std::hypot(there.row - here.row, there.col - here.col));
    }
    return least;
  }

  std::span<const Point> points_;
  Point least_;
  double side_ = 1;
  Index rows_ = 1, cols_ = 1;
  std::vector<Index> first_, members_;
};

}  // namespace

std::vector<Point> raster_positions(const Raster& raster) {
  if (raster.rows < 1 || raster.cols < 1)
    throw Error(ErrorKind::bad_input, fmt::format("a scan of {} x {} positions", raster.rows, raster.cols));
  if (!std::isfinite(raster.step_row) || !std::isfinite(raster.step_col) || !std::isfinite(raster.rotation))
    throw Error(ErrorKind::bad_input, fmt::format("a scan with steps of ({}, {}) turned by {} rad", raster.step_row,
                                                  raster.step_col, raster.rotation));
  std::vector<Point> points;
  points.reserve(static_cast<std::size_t>(raster.rows * raster.cols));
  for (Index row = 0; row < raster.rows; ++row)
    for (Index col = 0; col < raster.cols; ++col) {
      const Point point{static_cast<double>(row) * raster.step_row, static_cast<double>(col) * raster.step_col};
      points.push_back(raster.transpose ? Point{point.col, point.row} : point);
    }
  if (raster.rotation != 0) {
    const Point mean = mean_of(points);
    const double cosine = std::cos(raster.rotation), sine = std::sin(raster.rotation);
    for (Point& point : points) {
      const double y = point.row - mean.row, x = point.col - mean.col;
      point = {mean.row + y * cosine - x * sine, mean.col + x * cosine + y * sine};
    }
  }
  return points;
}

std::vector<Point> listed_positions(std::span<const Point> list, LengthUnit unit, Reference reference,
                                    const Sampling& sampling) {
  require_finite(list);
  std::vector<Point> positions =
      unit == LengthUnit::angstrom ? in_pixels(list, sampling) : std::vector<Point>(list.begin(), list.end());
  if (reference == Reference::window_corner)
    for (Point& position : positions) {
      position.row += static_cast<double>(sampling.rows / 2);
      position.col += static_cast<double>(sampling.cols / 2);
    }
  return positions;
}

std::vector<Point> in_pixels(std::span<const Point> positions_a, const Sampling& sampling) {
  require_calibrated(sampling, "a position in A");
  return scaled(positions_a, 1 / sampling.pixel_row(), 1 / sampling.pixel_col());
}

std::vector<Point> in_angstrom(std::span<const Point> positions_px, const Sampling& sampling) {
  require_calibrated(sampling, "a position in A");
  return scaled(positions_px, sampling.pixel_row(), sampling.pixel_col());
}

double typical_step(std::span<const Point> positions) {
  if (positions.size() < 2) return 0;
  require_finite(positions);
  const Cells cells(positions);
  std::vector<double> distances;
  distances.reserve(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) distances.push_back(cells.nearest_distance(static_cast<Index>(i)));
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

}  // namespace sonde::ptycho
