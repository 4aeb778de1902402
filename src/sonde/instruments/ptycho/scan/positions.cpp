// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/positions.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

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

}  // namespace sonde::ptycho
