// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/scan_lattice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

constexpr Index least_lines = 4;
constexpr double tolerance = 0.1;  // of a step: whole-pixel positions of fine scans still count as a raster

Point operator+(Point a, Point b) { return {a.row + b.row, a.col + b.col}; }
Point operator-(Point a, Point b) { return {a.row - b.row, a.col - b.col}; }
Point operator*(double factor, Point a) { return {factor * a.row, factor * a.col}; }
double length(Point a) { return std::hypot(a.row, a.col); }
double cross(Point a, Point b) { return a.row * b.col - a.col * b.row; }

Error no_raster(const std::string& why) {
  return Error(ErrorKind::bad_input, "direct methods need a regular raster, but " + why)
      .hint("`sonde ptycho run` with object.init = \"ones\" takes positions of any kind");
}

LatticeShape shape_of(std::span<const Point> points) {
  const auto count = static_cast<Index>(points.size());
  const Point step = points[1] - points[0];
  std::size_t cols = 2;
  while (cols < points.size() && length(points[cols] - points[cols - 1] - step) <= 0.5 * length(step)) ++cols;
  if (count % static_cast<Index>(cols) != 0)
    throw no_raster(fmt::format("{} positions are not a whole number of lines of {}", count, cols));
  return {count / static_cast<Index>(cols), static_cast<Index>(cols)};
}

}  // namespace

Point ScanLattice::row_frequency() const {
  const double area = cross(down, across) * static_cast<double>(rows);
  return {across.col / area, -across.row / area};
}

Point ScanLattice::col_frequency() const {
  const double area = cross(down, across) * static_cast<double>(cols);
  return {-down.col / area, down.row / area};
}

ScanLattice ScanLattice::turned(double angle) const {
  const double c = std::cos(angle), s = std::sin(angle);
  const auto turn = [&](Point p) { return Point{p.row * c - p.col * s, p.col * c + p.row * s}; };
  const double i = static_cast<double>(rows - 1) / 2, j = static_cast<double>(cols - 1) / 2;
  ScanLattice result = *this;
  result.down = turn(down);
  result.across = turn(across);
  result.origin = origin + i * (down - result.down) + j * (across - result.across);
  return result;
}

std::vector<Point> ScanLattice::positions() const {
  std::vector<Point> points;
  points.reserve(static_cast<std::size_t>(count()));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      points.push_back(origin + static_cast<double>(i) * down + static_cast<double>(j) * across);
  return points;
}

ScanLattice scan_lattice(std::span<const Point> positions_px, std::optional<LatticeShape> shape,
                         const Sampling& sampling) {
  require_calibrated(sampling, "a direct method");
  const std::vector<Point> points = in_angstrom(positions_px, sampling);
  const auto count = static_cast<Index>(points.size());
  if (count < 2) throw no_raster(fmt::format("there is {} position", count));
  if (!shape || shape->rows * shape->cols != count) shape = shape_of(points);
  ScanLattice lattice{shape->rows, shape->cols, {}, {}, {}};
  if (lattice.rows < least_lines || lattice.cols < least_lines)
    throw no_raster(fmt::format("the scan has {} x {} positions: at least {} x {} are needed", lattice.rows,
                                lattice.cols, least_lines, least_lines));

  // Least squares; on a full grid the two directions and the mean separate.
  const double i_mean = static_cast<double>(lattice.rows - 1) / 2, j_mean = static_cast<double>(lattice.cols - 1) / 2;
  Point mean;
  double i_squares = 0, j_squares = 0;
  for (Index frame = 0; frame < count; ++frame) {
    const Point& point = points[static_cast<std::size_t>(frame)];
    const double i = static_cast<double>(frame / lattice.cols) - i_mean;
    const double j = static_cast<double>(frame % lattice.cols) - j_mean;
    mean = mean + (1 / static_cast<double>(count)) * point;
    lattice.down = lattice.down + i * point;
    lattice.across = lattice.across + j * point;
    i_squares += i * i;
    j_squares += j * j;
  }
  lattice.down = (1 / i_squares) * lattice.down;
  lattice.across = (1 / j_squares) * lattice.across;
  lattice.origin = mean - i_mean * lattice.down - j_mean * lattice.across;

  const double step = std::min(length(lattice.down), length(lattice.across));
  const std::vector<Point> expected = lattice.positions();
  double worst = -1;
  std::size_t frame = 0;
  for (std::size_t j = 0; j < points.size(); ++j) {
    const double distance = length(points[j] - expected[j]);
    if (!(distance > worst)) continue;
    worst = distance;
    frame = j;
  }
  if (!(worst <= tolerance * step) || !(std::abs(cross(lattice.down, lattice.across)) > 0.1 * step * step))
    throw no_raster(
        fmt::format("frame {} is {:.3g} A from its place on the best lattice of {} x {} positions, {:.3g} "
                    "A apart",
                    frame, worst, lattice.rows, lattice.cols, step));
  return lattice;
}

}  // namespace sonde::ptycho
