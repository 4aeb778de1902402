// SPDX-License-Identifier: Apache-2.0
// One function and one row per shape. A new shape is a row of the table below, with its function beside the others.
#include "sonde/instruments/stem/image/detector_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace sonde::stem {
namespace {

using Arguments = std::span<const double>;
using Role = ArgumentRole;

/// The whole numbers from..to (without `to`) within [low, high], clipped to 0..extent.
struct Span {
  Index from, to;
};
Span clip(double low, double high, Index extent) {
  const auto limit = static_cast<double>(extent);
  const auto from = static_cast<Index>(std::clamp(std::floor(low), 0.0, limit));
  const auto to = static_cast<Index>(std::clamp(std::floor(high) + 1, 0.0, limit));
  return {from, std::max(from, to)};
}

struct Ring {
  double row = 0, col = 0, r_in = 0, r_out = 0;
  bool inclusive = false;

  [[nodiscard]] bool holds(double d) const { return d >= r_in && (inclusive ? d <= r_out : d < r_out); }
};

SampleSet ring_samples(const SampleGrid& grid, const Ring& ring) {
  SampleSet set(grid.count(), 0);
  const double reach = ring.r_out + 1;  // a pixel's sample lies less than one pixel from its centre
  const Span rows = clip(ring.row - reach, ring.row + reach, grid.rows);
  const Span cols = clip(ring.col - reach, ring.col + reach, grid.cols);
  for (Index row = rows.from; row < rows.to; ++row) {
    std::uint8_t* line = set.data() + row * grid.cols;
    const double y = grid.row(row) - ring.row;
    for (Index col = cols.from; col < cols.to; ++col) line[col] = ring.holds(distance(y, grid.col(col) - ring.col));
  }
  return set;
}

SampleSet segment_samples(const SampleGrid& grid, const Ring& ring, double k, double n, double phi0) {
  SampleSet set = ring_samples(grid, ring);
  constexpr double turn = 2 * std::numbers::pi;
  for (Index row = 0; row < grid.rows; ++row)
    for (Index col = 0; col < grid.cols; ++col) {
      std::uint8_t& inside = set[static_cast<std::size_t>(row * grid.cols + col)];
      if (inside == 0) continue;
      double angle = std::fmod(std::atan2(grid.row(row) - ring.row, grid.col(col) - ring.col) - phi0, turn);
      if (angle < 0) angle += turn;  // may round to a whole turn, which belongs to the first piece
      const double piece = angle >= turn ? 0 : std::min(std::floor(angle / (turn / n)), n - 1);
      inside = piece == k;
    }
  return set;
}

/// The semi-axis a is in the direction phi, b across it. Without divisions: with a = b and phi = 0 it is the circle.
SampleSet ellipse_samples(const SampleGrid& grid, Arguments arguments, bool inclusive) {
  const double a = arguments[2], b = arguments[3], cosine = std::cos(arguments[4]), sine = std::sin(arguments[4]);
  SampleSet set(grid.count(), 0);
  const double reach = std::max(a, b) + 1;
  const Span rows = clip(arguments[0] - reach, arguments[0] + reach, grid.rows);
  const Span cols = clip(arguments[1] - reach, arguments[1] + reach, grid.cols);
  for (Index row = rows.from; row < rows.to; ++row) {
    std::uint8_t* line = set.data() + row * grid.cols;
    const double y = grid.row(row) - arguments[0];
    for (Index col = cols.from; col < cols.to; ++col) {
      const double x = grid.col(col) - arguments[1];
      const double along = x * cosine + y * sine, across = y * cosine - x * sine;
      const double d = distance(along * b, across * a);
      // Of a semi-axis of 0 the product says nothing.
      line[col] = inclusive ? d <= a * b && std::abs(along) <= a && std::abs(across) <= b : d < a * b;
    }
  }
  return set;
}

SampleSet rect_samples(const SampleGrid& grid, double row0, double col0, double row1, double col1) {
  SampleSet set(grid.count(), 0);
  // The first whole number that is not below a bound.
  const auto first = [](double bound, Index extent) {
    return static_cast<Index>(std::clamp(std::ceil(bound), 0.0, static_cast<double>(extent)));
  };
  const Index left = first(col0, grid.cols), right = first(col1, grid.cols);
  for (Index row = first(row0, grid.rows); row < first(row1, grid.rows); ++row)
    for (Index col = left; col < right; ++col) set[static_cast<std::size_t>(row * grid.cols + col)] = 1;
  return set;
}

SampleSet runs_samples(const SampleGrid& grid, std::span<const double> runs) {
  SampleSet set(grid.count(), 0);
  for (std::size_t i = 0; i + 2 < runs.size(); i += 3) {
    if (runs[i] < 0 || runs[i] >= static_cast<double>(grid.rows)) continue;
    const auto limit = static_cast<double>(grid.cols);
    std::uint8_t* line = set.data() + static_cast<Index>(runs[i]) * grid.cols;
    std::fill(line + static_cast<Index>(std::clamp(runs[i + 1], 0.0, limit)),
              line + static_cast<Index>(std::clamp(runs[i + 2], 0.0, limit)), std::uint8_t{1});
  }
  return set;
}

SampleSet polygon_samples(const SampleGrid& grid, std::span<const double> vertices) {
  SampleSet set(grid.count(), 0);
  const std::size_t corners = vertices.size() / 2;
  std::vector<std::uint8_t> flips(static_cast<std::size_t>(grid.cols) + 1);
  for (Index row = 0; row < grid.rows; ++row) {
    // A sample is inside when an odd number of edges cross its row strictly to its right: a sample on an edge then
    // belongs to the side right of it, and one on a horizontal edge to the side below.
    std::fill(flips.begin(), flips.end(), std::uint8_t{0});
    const double y = grid.row(row);
    for (std::size_t i = 0; i < corners; ++i) {
      const std::size_t j = (i + 1) % corners;
      double r0 = vertices[2 * i], c0 = vertices[2 * i + 1], r1 = vertices[2 * j], c1 = vertices[2 * j + 1];
      if ((r0 > y) == (r1 > y)) continue;
      if (r0 > r1) {
        std::swap(r0, r1);
        std::swap(c0, c1);
      }
      // Left of the edge without a division: (col - c0) (r1 - r0) < (c1 - c0) (y - r0).
      const auto left = [&](Index col) { return (grid.col(col) - c0) * (r1 - r0) < (c1 - c0) * (y - r0); };
      const double crossing = c0 + (c1 - c0) * (y - r0) / (r1 - r0) - grid.shift_col;
      auto lefts = static_cast<Index>(std::clamp(std::ceil(crossing), 0.0, static_cast<double>(grid.cols)));
      while (lefts > 0 && !left(lefts - 1)) --lefts;
      while (lefts < grid.cols && left(lefts)) ++lefts;
      flips[static_cast<std::size_t>(lefts)] ^= 1;  // this edge counts for the samples before
    }
    std::uint8_t inside = 0;
    for (Index col = grid.cols; col-- > 0;) {
      inside ^= flips[static_cast<std::size_t>(col) + 1];
      set[static_cast<std::size_t>(row * grid.cols + col)] = inside;
    }
  }
  return set;
}

SampleSet point_samples(const SampleGrid& grid, double row, double col) {
  const double at_row = std::floor(row + 0.5), at_col = std::floor(col + 0.5);
  return rect_samples(grid, at_row, at_col, at_row + 1, at_col + 1);
}

std::optional<ShapeFault> check_segment(Arguments a) {
  if (a[5] < 1 || a[5] != std::floor(a[5])) return ShapeFault{"n is a whole number of segments, at least 1", 5};
  if (a[4] < 0 || a[4] >= a[5] || a[4] != std::floor(a[4])) return ShapeFault{"k is a whole number from 0 to n - 1", 4};
  return {};
}

std::optional<ShapeFault> check_rect(Arguments a) {
  if (a[0] < a[2] && a[1] < a[3]) return {};
  return ShapeFault{"the rectangle holds no pixel",
                    {},
                    "rect takes two corners, rect(row0,col0,row1,col1); row1 and col1 are the first ones outside"};
}

std::optional<ShapeFault> check_runs(Arguments a) {
  for (std::size_t i = 0; i < a.size(); i += 3) {
    for (const std::size_t k : {i, i + 1, i + 2})
      if (a[k] != std::floor(a[k])) return ShapeFault{"runs are of whole pixels", k};
    if (a[i + 1] >= a[i + 2]) return ShapeFault{"the run holds no pixel", i};
  }
  return {};
}

std::vector<DetectorShape> table() {
  const ShapeArgument row{"row", Role::centre_row}, col{"col", Role::centre_col};
  return {
      {.name = "circle",
       .arguments = {row, col, {"r", Role::radius}},
       .help = "Pixels at a distance d < r from the centre.",
       .example = "circle(12.5,14,6)",
       .samples =
           [](const SampleGrid& grid, Arguments a, bool inclusive) {
             return ring_samples(grid, {a[0], a[1], 0, a[2], inclusive});
           }},
      {.name = "annulus",
       .arguments = {row, col, {"r_in", Role::inner_radius}, {"r_out", Role::outer_radius}},
       .help = "Pixels at r_in <= d < r_out, so that adjacent annuli share none.",
       .example = "annulus(12.5,14,3,9)",
       .samples =
           [](const SampleGrid& grid, Arguments a, bool inclusive) {
             return ring_samples(grid, {a[0], a[1], a[2], a[3], inclusive});
           }},
      {.name = "segment",
       .arguments = {row,
                     col,
                     {"r_in", Role::inner_radius},
                     {"r_out", Role::outer_radius},
                     {"k", Role::piece},
                     {"n", Role::pieces},
                     {"phi0", Role::start_angle}},
       .optional = 1,
       .help = "Piece k (from 0) of n of an annulus, counted clockwise on the screen from the angle phi0.",
       .example = "segment(12.5,14,3,9,0,4,-45deg)",
       .samples =
           [](const SampleGrid& grid, Arguments a, bool inclusive) {
             return segment_samples(grid, {a[0], a[1], a[2], a[3], inclusive}, a[4], a[5], a[6]);
           },
       .check = check_segment},
      {.name = "ellipse",
       .arguments = {row, col, {"a", Role::first_semi_axis}, {"b", Role::second_semi_axis}, {"phi", Role::direction}},
       .optional = 1,
       .help = "Pixels inside the ellipse of semi-axis a, turned clockwise on the screen by phi, and b across it.",
       .example = "ellipse(12.5,14,9,5,30deg)",
       .samples = ellipse_samples},
      {.name = "rect",
       .arguments =
           {{"row0", Role::first_row}, {"col0", Role::first_col}, {"row1", Role::end_row}, {"col1", Role::end_col}},
       .help = "Rows row0 <= row < row1, columns col0 <= col < col1.",
       .example = "rect(3,5,20,11)",
       .samples = [](const SampleGrid& grid, Arguments a, bool) { return rect_samples(grid, a[0], a[1], a[2], a[3]); },
       .check = check_rect},
      {.name = "point",
       .arguments = {row, col},
       .help = "The pixel that holds this place.",
       .example = "point(12,14)",
       .samples = [](const SampleGrid& grid, Arguments a, bool) { return point_samples(grid, a[0], a[1]); }},
      {.name = "polygon",
       .arguments = {{"row", Role::vertex_row}, {"col", Role::vertex_col}},
       .groups = 3,
       .help = "Pixels inside by the even-odd rule; a centre on an edge belongs to what is right of or below the edge.",
       .example = "polygon(3.5,3.5,3.5,20.5,20.5,3.5)",
       .samples = [](const SampleGrid& grid, Arguments a, bool) { return polygon_samples(grid, a); }},
      {.name = "runs",
       .arguments = {{"row", Role::run_row}, {"col0", Role::run_first}, {"col1", Role::run_end}},
       .groups = 1,
       .drawn = "brush",
       .help = "Columns col0 <= col < col1 of each row named: a mask that is painted freely.",
       .example = "runs(5,2,9,6,0,4)",
       .samples = [](const SampleGrid& grid, Arguments a, bool) { return runs_samples(grid, a); },
       .check = check_runs},
  };
}

struct RoleFacts {
  std::string_view name;
  ArgumentKind kind;
  std::string_view unit;
};
RoleFacts facts(Role role) {
  using Kind = ArgumentKind;
  switch (role) {
    case Role::centre_row:
      return {"centre_row", Kind::centre, "px"};
    case Role::centre_col:
      return {"centre_col", Kind::centre, "px"};
    case Role::radius:
      return {"radius", Kind::length, "px"};
    case Role::inner_radius:
      return {"inner_radius", Kind::length, "px"};
    case Role::outer_radius:
      return {"outer_radius", Kind::length, "px"};
    case Role::first_semi_axis:
      return {"first_semi_axis", Kind::length, "px"};
    case Role::second_semi_axis:
      return {"second_semi_axis", Kind::length, "px"};
    case Role::direction:
      return {"direction", Kind::angle, "rad"};
    case Role::start_angle:
      return {"start_angle", Kind::angle, "rad"};
    case Role::piece:
      return {"piece", Kind::number, ""};
    case Role::pieces:
      return {"pieces", Kind::number, ""};
    case Role::first_row:
      return {"first_row", Kind::number, "px"};
    case Role::first_col:
      return {"first_col", Kind::number, "px"};
    case Role::end_row:
      return {"end_row", Kind::number, "px"};
    case Role::end_col:
      return {"end_col", Kind::number, "px"};
    case Role::vertex_row:
      return {"vertex_row", Kind::number, "px"};
    case Role::vertex_col:
      return {"vertex_col", Kind::number, "px"};
    case Role::run_row:
      return {"run_row", Kind::number, "px"};
    case Role::run_first:
      return {"run_first", Kind::number, "px"};
    case Role::run_end:
      return {"run_end", Kind::number, "px"};
  }
  return {};
}

}  // namespace

std::string_view name(ArgumentRole role) { return facts(role).name; }
ArgumentKind kind(ArgumentRole role) { return facts(role).kind; }
std::string_view unit(ArgumentRole role) { return facts(role).unit; }

bool DetectorShape::takes(std::size_t count) const {
  if (groups > 0) return count >= groups * arguments.size() && count % arguments.size() == 0;
  return count + optional >= arguments.size() && count <= arguments.size();
}

std::string DetectorShape::form() const {
  // Two groups show how it goes on.
  const std::size_t shown = groups > 0 ? std::max<std::size_t>(groups, 2) * arguments.size() : arguments.size();
  std::string text = fmt::format("{}(", name);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool left_out = groups == 0 && i + optional >= shown;
    const std::string_view argument = arguments[i % arguments.size()].name;
    text += left_out ? fmt::format("[,{}]", argument) : fmt::format("{}{}", i == 0 ? "" : ",", argument);
  }
  return text + (groups > 0 ? ",...)" : ")");
}

const std::vector<DetectorShape>& detector_shapes() {
  static const std::vector<DetectorShape> all = table();
  return all;
}

const DetectorShape* find_detector_shape(std::string_view name) {
  const auto& all = detector_shapes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const DetectorShape& shape) { return shape.name == name; });
  return found != all.end() ? &*found : nullptr;
}

std::string detector_shapes_help() {
  std::string text;
  for (const auto* table : {&detector_shapes(), &detector_families()})
    for (const DetectorShape& shape : *table)
      text += fmt::format("{}    {}\n        {}", text.empty() ? "" : "\n", shape.form(), shape.help);
  return text;
}

}  // namespace sonde::stem
