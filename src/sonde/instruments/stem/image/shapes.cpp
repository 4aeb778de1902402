// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/shapes.h"

#include <algorithm>
#include <numbers>

namespace sonde::stem {
namespace {

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

}  // namespace

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

}  // namespace sonde::stem
