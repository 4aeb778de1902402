// SPDX-License-Identifier: Apache-2.0
// The disk's outline at half level, and the circle through it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/correct/centre_methods.h"
#include "sonde/instruments/stem/correct/circle_fit.h"
#include "sonde/instruments/stem/correct/ordering.h"

namespace sonde::stem {
namespace {

constexpr int ray_count = 360;
constexpr double ray_step = 0.25;  // pixels between samples of a ray
// Two crossings closer than this are one edge with noise on it; farther apart, the ray has no clean edge.
constexpr double edge_jitter = 1.5;
// Standard errors by which the disk's level must exceed its surroundings. Patches of pure noise, picked by the
// threshold and joined by the median filter, reached 16 in 480 patterns of 24^2 to 192^2 pixels with 0.02 to 10^5
// counts per pixel.
constexpr double least_significance = 20;

/// A pixel and its eight neighbours; none at the rim, and where one of them is invalid.
std::optional<std::array<double, 9>> neighbourhood(const Pattern& pattern, Index row, Index col) {
  if (row == 0 || col == 0 || row + 1 == pattern.rows || col + 1 == pattern.cols) return std::nullopt;
  std::array<double, 9> near{};
  unsigned valid = 1;
  for (Index k = 0; k < 9; ++k) {
    const std::size_t i = pattern.at(row - 1 + k / 3, col - 1 + k % 3);
    near[static_cast<std::size_t>(k)] = pattern.value[i];
    valid &= pattern.valid[i] != 0 ? 1u : 0u;
  }
  if (valid == 0) return std::nullopt;
  return near;
}

/// The 3x3 median of the valid pixels. An invalid pixel with at least five valid neighbours becomes valid.
Pattern median_filtered(const Pattern& pattern) {
  Pattern filtered = pattern;
  std::vector<double> near;
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Index col = 0; col < pattern.cols; ++col) {
      if (const auto all = neighbourhood(pattern, row, col)) {
        filtered.value[pattern.at(row, col)] = median_of_nine(*all);
        continue;
      }
      near.clear();
      for (Index r = std::max<Index>(row - 1, 0); r <= std::min(row + 1, pattern.rows - 1); ++r)
        for (Index c = std::max<Index>(col - 1, 0); c <= std::min(col + 1, pattern.cols - 1); ++c)
          if (pattern.valid[pattern.at(r, c)] != 0) near.push_back(pattern.value[pattern.at(r, c)]);
      const std::size_t i = pattern.at(row, col);
      if (pattern.valid[i] == 0 && near.size() < 5) continue;
      filtered.valid[i] = 1;
      const auto middle = near.begin() + static_cast<std::ptrdiff_t>(near.size() / 2);
      std::nth_element(near.begin(), middle, near.end());
      filtered.value[i] = *middle;
    }
  }
  return filtered;
}

/// Otsu's threshold (IEEE Trans. Syst. Man Cybern. 9 (1979) 62) over the exact values, no histogram: pixels above it
/// are foreground. Half way between the two classes' nearest values; none when all values are equal.
std::optional<double> otsu_threshold(const Pattern& pattern) {
  std::vector<double> sorted;
  for (std::size_t i = 0; i < pattern.value.size(); ++i)
    if (pattern.valid[i] != 0) sorted.push_back(pattern.value[i]);
  sort_values(sorted);
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0), count = static_cast<double>(sorted.size());
  double below = 0, best = -1;
  std::optional<double> level;
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    below += sorted[i];
    if (sorted[i] == sorted[i + 1]) continue;
    const double n0 = static_cast<double>(i + 1), n1 = count - n0;
    const double difference = below / n0 - (total - below) / n1;
    const double between = n0 * n1 * difference * difference;
    if (between > best) {
      best = between;
      level = (sorted[i] + sorted[i + 1]) / 2;
    }
  }
  return level;
}

struct Component {
  double row = 0, col = 0;  ///< unweighted centroid
  double area = 0;
  double distance = 0;  ///< of its nearest pixel from the intensity centroid
};

/// The 4-connected component above `level` that contains the intensity-weighted centroid of the foreground, else the
/// one nearest to it among those of at least a tenth of the largest one's area (a stray pixel near the centroid is no
/// disk).
Component choose_component(const Pattern& pattern, double level) {
  const std::size_t count = pattern.value.size();
  const auto bright = [&](std::size_t i) { return pattern.valid[i] != 0 && pattern.value[i] > level; };
  double weight = 0, mean_row = 0, mean_col = 0;
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Index col = 0; col < pattern.cols; ++col) {
      const std::size_t i = pattern.at(row, col);
      if (!bright(i)) continue;
      weight += pattern.value[i] - level;
      mean_row += (pattern.value[i] - level) * static_cast<double>(row);
      mean_col += (pattern.value[i] - level) * static_cast<double>(col);
    }
  }
  mean_row /= weight;
  mean_col /= weight;

  std::vector<std::uint8_t> seen(count, 0);
  std::vector<Index> open;
  std::vector<Component> components;
  const auto visit = [&](Index row, Index col) {
    if (row < 0 || col < 0 || row >= pattern.rows || col >= pattern.cols) return;
    const std::size_t i = pattern.at(row, col);
    if (seen[i] != 0 || !bright(i)) return;
    seen[i] = 1;
    open.push_back(static_cast<Index>(i));
  };
  for (Index start = 0; start < static_cast<Index>(count); ++start) {
    visit(start / pattern.cols, start % pattern.cols);
    if (open.empty()) continue;
    Component part{.distance = std::numeric_limits<double>::infinity()};
    while (!open.empty()) {
      const Index row = open.back() / pattern.cols, col = open.back() % pattern.cols;
      open.pop_back();
      part.area += 1;
      part.row += static_cast<double>(row);
      part.col += static_cast<double>(col);
      part.distance =
          std::min(part.distance, std::hypot(static_cast<double>(row) - mean_row, static_cast<double>(col) - mean_col));
      visit(row - 1, col);
      visit(row + 1, col);
      visit(row, col - 1);
      visit(row, col + 1);
    }
    part.row /= part.area;
    part.col /= part.area;
    components.push_back(part);
  }
  double largest = 0;
  for (const Component& part : components) largest = std::max(largest, part.area);
  const Component* chosen = nullptr;
  for (const Component& part : components) {
    if (part.area < 0.1 * largest) continue;
    if (chosen == nullptr || part.distance < chosen->distance ||
        (part.distance == chosen->distance && part.area > chosen->area))
      chosen = &part;
  }
  return *chosen;
}

std::vector<double> values_between(const Pattern& pattern, const Circle& circle, double inner, double outer) {
  const double least = inner * circle.radius, most = outer * circle.radius;
  // Squares decide, but for pixels so near to a bound that their rounding might.
  constexpr double rounding = 1e-12;
  const double surely_in = least * least * (1 + rounding), surely_out = least * least * (1 - rounding);
  const double still_in = most * most * (1 - rounding), beyond = most * most * (1 + rounding);
  const auto within = [&](double down, double right) {
    const double square = down * down + right * right;
    if (square < surely_out || square > beyond) return false;
    if (square > surely_in && square < still_in) return true;
    const double distance = std::hypot(down, right);
    return distance >= least && distance < most;
  };
  const auto first = [&](double middle, Index end) {
    return static_cast<Index>(std::clamp(std::floor(middle - most), 0.0, static_cast<double>(end)));
  };
  const auto last = [&](double middle, Index end) {
    return static_cast<Index>(std::clamp(std::ceil(middle + most) + 1, 0.0, static_cast<double>(end)));
  };
  std::vector<double> values;
  for (Index row = first(circle.row, pattern.rows); row < last(circle.row, pattern.rows); ++row) {
    for (Index col = first(circle.col, pattern.cols); col < last(circle.col, pattern.cols); ++col) {
      const std::size_t i = pattern.at(row, col);
      if (pattern.valid[i] != 0 && within(static_cast<double>(row) - circle.row, static_cast<double>(col) - circle.col))
        values.push_back(pattern.value[i]);
    }
  }
  return values;
}

std::optional<double> interpolated(const Pattern& pattern, double row, double col) {
  const double r0 = std::floor(row), c0 = std::floor(col);
  if (r0 < 0 || c0 < 0 || r0 + 1 > static_cast<double>(pattern.rows - 1) ||
      c0 + 1 > static_cast<double>(pattern.cols - 1))
    return std::nullopt;
  const std::size_t i = pattern.at(static_cast<Index>(r0), static_cast<Index>(c0));
  const std::size_t j = i + static_cast<std::size_t>(pattern.cols);
  if ((pattern.valid[i] & pattern.valid[i + 1] & pattern.valid[j] & pattern.valid[j + 1]) == 0) return std::nullopt;
  const double y = row - r0, x = col - c0;
  return (1 - y) * ((1 - x) * pattern.value[i] + x * pattern.value[i + 1]) +
         y * ((1 - x) * pattern.value[j] + x * pattern.value[j + 1]);
}

/// The one clean edge of a ray: its downward crossing of `level` nearest to the expected radius, unless another
/// crossing lies between half and one and a half radii (at least four pixels outwards) and farther than noise would put
/// it.
std::optional<Point> edge_on_ray(const Pattern& pattern, const Circle& circle, double level, double angle) {
  const double down = std::sin(angle), right = std::cos(angle);
  const double last = std::max(1.5 * circle.radius, circle.radius + 4);
  std::vector<double> edges;
  double nearest = 0;
  bool found = false;
  std::optional<double> before;
  for (double at = 0.5 * circle.radius; at <= last; at += ray_step) {
    const std::optional<double> now = interpolated(pattern, circle.row + at * down, circle.col + at * right);
    if (before && now && (*before > level) != (*now > level)) {
      const double edge = at - ray_step * (level - *now) / (*before - *now);
      edges.push_back(edge);
      if (*before > level && (!found || std::abs(edge - circle.radius) < std::abs(nearest - circle.radius))) {
        nearest = edge;
        found = true;
      }
    }
    before = now;
  }
  if (!found) return std::nullopt;
  for (const double edge : edges)
    if (std::abs(edge - nearest) > edge_jitter) return std::nullopt;
  return Point{circle.row + nearest * down, circle.col + nearest * right};
}

/// Leaves out points farther than three standard deviations from the circle until none is.
Circle fit_trimmed(std::vector<Point>& points, double& rms) {
  Circle circle = fit_circle(points);
  for (int round = 0; round < 10 && circle.radius > 0; ++round) {
    const auto distance = [&](const Point& point) {
      return std::hypot(point.row - circle.row, point.col - circle.col) - circle.radius;
    };
    double squares = 0;
    for (const Point& point : points) squares += distance(point) * distance(point);
    rms = std::sqrt(squares / static_cast<double>(points.size()));
    const double limit = std::max(3 * rms, 1e-6);  // an ideal outline has nothing to trim
    const auto kept =
        std::remove_if(points.begin(), points.end(), [&](const Point& p) { return std::abs(distance(p)) > limit; });
    if (kept == points.end()) break;
    points.erase(kept, points.end());
    circle = fit_circle(points);
  }
  return circle;
}

}  // namespace

Centre centre_by_edge(const Pattern& raw) {
  const Pattern pattern = median_filtered(raw);
  const std::optional<double> threshold = otsu_threshold(pattern);
  if (!threshold)
    throw Error(ErrorKind::bad_input, "no disk was found: after a 3x3 median the pattern is flat")
        .hint("try " + setting("centre_method") + " com or friedel, or give it with " + setting("centre") + " ROW,COL");
  const Component component = choose_component(pattern, *threshold);
  Centre centre{.method = CentreMethod::edge};
  Circle circle{component.row, component.col, std::max(1.0, std::sqrt(component.area / std::numbers::pi))};

  // A disk cut by the detector's rim starts with a wrong centre and radius: the levels and rays are taken again from
  // the fitted circle.
  std::vector<Point> outline;
  double plateau = 0, background = 0;
  for (int round = 0; round < 3; ++round) {
    plateau = median_of(values_between(pattern, circle, 0, 0.9));
    std::vector<double> ring = values_between(pattern, circle, 1.5, 2);
    if (ring.empty()) ring = values_between(pattern, circle, 1.2, std::numeric_limits<double>::infinity());
    background = median_of(ring);
    outline.clear();
    for (int ray = 0; ray < ray_count; ++ray)
      if (const auto point =
              edge_on_ray(pattern, circle, (plateau + background) / 2, 2 * std::numbers::pi * ray / ray_count))
        outline.push_back(*point);
    const Circle fitted = fit_trimmed(outline, centre.residual_rms);
    if (fitted.radius == 0)
      throw Error(ErrorKind::bad_input,
                  fmt::format("no disk was found: {} of {} rays cross half of its level", outline.size(), ray_count))
          .hint("try " + setting("centre_method") + " com or friedel, or give it with " + setting("centre") +
                " ROW,COL");
    circle = fitted;
  }
  centre.row = circle.row;
  centre.col = circle.col;
  centre.radius = circle.radius;
  centre.confidence = static_cast<double>(outline.size()) / ray_count;

  std::vector<double> ring = values_between(raw, circle, 1.2, 2.5);
  double mean = 0, variance = 0;
  for (const double value : ring) mean += value / static_cast<double>(ring.size());
  for (const double value : ring) variance += (value - mean) * (value - mean) / static_cast<double>(ring.size());
  const double area = static_cast<double>(values_between(raw, circle, 0, 1).size());
  if ((plateau - background) * std::sqrt(area) < least_significance * std::sqrt(variance)) {
    centre.confidence = 0;
    centre.notes.emplace_back("no disk is above the noise");
  } else if (centre.confidence < 0.5) {
    centre.notes.push_back(
        fmt::format("only {:.0f} % of the rays have a clean edge on the circle: the disk may be cut, "
                    "overlapped or structured",
                    100 * centre.confidence));
  }
  return centre;
}

}  // namespace sonde::stem
