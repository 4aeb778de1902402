// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/spacing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::ptycho {
namespace {

constexpr double far_away = std::numeric_limits<double>::infinity();

/// The middle value of those that are finite; 0 when there are none.
double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The width of the nine middle tenths of a coordinate, which a few points far away do not stretch.
double middle_width(std::vector<double> values) {
  const auto at = [&](double share) {
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(std::floor(share * static_cast<double>(values.size() - 1)));
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  const double low = at(0.05);
  return at(0.95) - low;
}

/// Points, which come in the order of their rows, in square cells that hold one or two each. Only cells with points
/// exist, so that a point far from all others costs nothing.
class Cells {
 public:
  explicit Cells(const std::vector<Point>& points) : points_(points) {
    std::vector<double> rows, cols;
    for (const Point& point : points) {
      rows.push_back(point.row);
      cols.push_back(point.col);
    }
    const double height = middle_width(std::move(rows)), width = middle_width(std::move(cols));
    const auto count = static_cast<double>(points.size());
    // A line of points has no area: then the length decides.
    side_ = std::max(std::sqrt(height * width / count), std::max(height, width) / count);
    if (!(side_ > 0)) side_ = 1;
    members_.resize(points.size());
    std::iota(members_.begin(), members_.end(), std::size_t{0});
    cells_.reserve(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      cells_.push_back(cell_of(i));
      if (lines_.empty() || lines_.back().first != cells_.back().first)
        lines_.emplace_back(cells_.back().first, static_cast<std::ptrdiff_t>(i));
    }
    // The lines of cells are in order already: each is sorted by itself.
    parallel_for(static_cast<Index>(lines_.size()), 16, [&](Index first, Index last, Worker&) {
      for (auto line = lines_.begin() + first; line != lines_.begin() + last; ++line) {
        const auto begin = members_.begin() + line->second;
        const auto end = line + 1 == lines_.end() ? members_.end() : members_.begin() + (line + 1)->second;
        std::sort(begin, end,
                  [&](std::size_t a, std::size_t b) { return std::pair(cell_of(a), a) < std::pair(cell_of(b), b); });
        std::sort(cells_.begin() + line->second, cells_.begin() + (end - members_.begin()));
      }
    });
  }

  /// The nearest other point and its distance.
  [[nodiscard]] std::pair<std::size_t, double> nearest(std::size_t which) const {
    auto found = search(which, [](const Point&) { return true; });
    if (std::isfinite(found.second)) return found;
    for (std::size_t other = 0; other < points_.size(); ++other) take_nearer(which, other, found);  // one far from all
    return found;
  }

  /// How far it is to the nearest point whose direction is 45 degrees and more off `along`, one way or the other;
  /// infinite when there is none within reach.
  [[nodiscard]] double nearest_across(std::size_t which, Point along) const {
    return search(which,
                  [&](const Point& step) {
                    const double cosine = step.row * along.row + step.col * along.col;
                    const double sine = step.row * along.col - step.col * along.row;
                    return std::abs(sine) >= std::abs(cosine) * (1 - 1e-9);
                  })
        .second;
  }

 private:
  using Cell = std::pair<double, double>;  // whole numbers that may be large

  [[nodiscard]] Cell cell_of(std::size_t which) const {
    return {std::floor(points_[which].row / side_), std::floor(points_[which].col / side_)};
  }

  void take_nearer(std::size_t which, std::size_t other, std::pair<std::size_t, double>& found) const {
    if (other == which) return;
    const double distance =
        std::hypot(points_[other].row - points_[which].row, points_[other].col - points_[which].col);
    if (distance < found.second) found = {other, distance};
  }

  /// Among the points whose step from here is wanted, within a reach of so many cells.
  template <class Wanted>
  [[nodiscard]] std::pair<std::size_t, double> search(std::size_t which, const Wanted& wanted) const {
    constexpr int reach = 64;  // both steps of a raster of one in four thousand
    const Point& here = points_[which];
    const Cell home = cell_of(which);
    std::pair<std::size_t, double> found{which, far_away};
    // Whatever lies in ring r + 1 is at least r cells away.
    for (int ring = 0; ring <= reach && found.second > (ring - 1) * side_; ++ring)
      for (int i = -ring; i <= ring; ++i) {
        const bool edge = i == -ring || i == ring;
        // A line of the ring: all of its cells, or the two at its ends.
        if (edge) {
          visit({home.first + i, home.second - ring}, {home.first + i, home.second + ring}, here, which, wanted, found);
        } else {
          for (const int k : {-ring, ring})
            visit({home.first + i, home.second + k}, {home.first + i, home.second + k}, here, which, wanted, found);
        }
      }
    return found;
  }

  /// The cells of one line, from `first` to `last`.
  template <class Wanted>
  void visit(const Cell& first, const Cell& last, const Point& here, std::size_t which, const Wanted& wanted,
             std::pair<std::size_t, double>& found) const {
    const auto line = std::lower_bound(lines_.begin(), lines_.end(), first.first,
                                       [](const auto& each, double row) { return each.first < row; });
    if (line == lines_.end() || line->first != first.first) return;  // first and last are on one line
    const auto line_end = line + 1 == lines_.end() ? cells_.end() : cells_.begin() + (line + 1)->second;
    const auto begin = std::lower_bound(cells_.begin() + line->second, line_end, first);
    for (auto at = begin; at != line_end && *at <= last; ++at) {
      const std::size_t other = members_[static_cast<std::size_t>(at - cells_.begin())];
      if (other != which && wanted({points_[other].row - here.row, points_[other].col - here.col}))
        take_nearer(which, other, found);
    }
  }

  const std::vector<Point>& points_;
  double side_ = 1;
  std::vector<std::size_t> members_;
  std::vector<Cell> cells_;                               // of the members, ascending
  std::vector<std::pair<double, std::ptrdiff_t>> lines_;  // where the cells of one row begin
};

}  // namespace

Spacing spacing_of(std::span<const Point> positions, Interruption interruption) {
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (!std::isfinite(positions[i].row) || !std::isfinite(positions[i].col))
      throw Error(ErrorKind::bad_input, fmt::format("position {} is ({}, {})", i, positions[i].row, positions[i].col));
  std::vector<std::size_t> first(positions.size());  // the first position of every place
  std::iota(first.begin(), first.end(), std::size_t{0});
  const auto key = [&](std::size_t i) { return std::pair(positions[i].row, positions[i].col); };
  const auto before = [&](std::size_t a, std::size_t b) { return key(a) < key(b); };
  if (!std::is_sorted(first.begin(), first.end(), before)) std::stable_sort(first.begin(), first.end(), before);
  first.erase(std::unique(first.begin(), first.end(), [&](std::size_t a, std::size_t b) { return key(a) == key(b); }),
              first.end());
  Spacing spacing;
  spacing.places = static_cast<Index>(first.size());
  if (first.size() < 2) return spacing;

  std::vector<Point> places;
  for (const std::size_t i : first) places.push_back(positions[i]);
  const Cells cells(places);
  // The median across is that of some hundred thousand places; the widest distance may be any place's.
  constexpr std::size_t enough = std::size_t{1} << 17;
  const std::size_t step = std::max<std::size_t>(1, places.size() / enough);
  std::vector<double> nearest(places.size()), across((places.size() + step - 1) / step);
  parallel_for(spacing.places, 4096, [&](Index begin, Index end, Worker&) {
    if (interruption == Interruption::looked_for) check_interrupt();  // millions of places take seconds
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto [other, distance] = cells.nearest(i);
      nearest[i] = distance;
      if (i % step != 0) continue;
      across[i / step] =
          cells.nearest_across(i, {places[other].row - places[i].row, places[other].col - places[i].col});
    }
  });
  const auto widest = std::max_element(nearest.begin(), nearest.end());
  if (*widest > 0) {
    spacing.widest = *widest;
    spacing.loneliest = static_cast<Index>(first[static_cast<std::size_t>(widest - nearest.begin())]);
  }
  spacing.nearest = median(std::move(nearest));
  spacing.across = std::max(median(std::move(across)), spacing.nearest);
  return spacing;
}

}  // namespace sonde::ptycho
