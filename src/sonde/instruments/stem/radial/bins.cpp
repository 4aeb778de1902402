// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/bins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/radial/disk_area.h"

namespace sonde::stem {
namespace {

constexpr std::string_view split_names[] = {"none", "bbox", "full"};
constexpr double full_circle = 2 * std::numbers::pi;

/// Part of a pixel in one bin.
struct Part {
  Index bin;
  double share;
};

/// Positions as circles see them: from the centre, x along the columns, y along the rows.
class Plane {
 public:
  explicit Plane(const RadialGeometry& geometry) : row_(geometry.row), col_(geometry.col) {
    const Ellipse& ellipse = geometry.ellipse;
    const double along = std::sqrt(ellipse.b / ellipse.a), across = 1 / along;
    const double c = std::cos(ellipse.theta), s = std::sin(ellipse.theta);
    xx_ = along * c * c + across * s * s;
    yy_ = along * s * s + across * c * c;
    xy_ = (along - across) * c * s;
  }
  [[nodiscard]] PlanePoint at(double row, double col) const {
    const double x = col - col_, y = row - row_;
    return {xx_ * x + xy_ * y, xy_ * x + yy_ * y};
  }
  [[nodiscard]] std::vector<PlanePoint> corners(Index row, Index col) const {
    const auto r = static_cast<double>(row), c = static_cast<double>(col);
    return {at(r - 0.5, c - 0.5), at(r - 0.5, c + 0.5), at(r + 0.5, c + 0.5), at(r + 0.5, c - 0.5)};
  }

 private:
  double row_, col_, xx_, yy_, xy_;
};

double radius_of(PlanePoint p) { return std::hypot(p.x, p.y); }
/// In [0, 2 pi).
double angle_of(PlanePoint p) {
  const double angle = std::atan2(p.y, p.x);
  const double turned = angle < 0 ? angle + full_circle : angle;
  return turned < full_circle ? turned : 0;
}
/// Of two angles, in [-pi, pi].
double turn(double from, double to) { return std::remainder(to - from, full_circle); }

bool holds_origin(const std::vector<PlanePoint>& corners) {
  bool left = true, right = true;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const PlanePoint p = corners[i], q = corners[(i + 1) % corners.size()];
    const double side = p.x * q.y - p.y * q.x;
    left &= side >= 0;
    right &= side <= 0;
  }
  return left || right;
}

/// Calls body(bin, share) for the bins of one axis that overlap [low, high], with the share of that interval.
template <class Body>
void for_overlaps(double low, double high, double start, double width, Index bins, bool wraps, Body&& body) {
  const double length = high - low;
  auto first = static_cast<Index>(std::floor((low - start) / width)),
       last = static_cast<Index>(std::floor((high - start) / width));
  if (!wraps) {
    first = std::max<Index>(first, 0);
    last = std::min(last, bins - 1);
  }
  for (Index i = first; i <= last; ++i) {
    const double from = start + static_cast<double>(i) * width;
    const double overlap = std::min(high, from + width) - std::max(low, from);
    if (overlap > 0) body(wraps ? ((i % bins) + bins) % bins : i, overlap / length);
  }
}

class Sharing {
 public:
  Sharing(const RadialGeometry& geometry, const RadialBins& bins) : plane_(geometry), bins_(bins) {}

  void by_centre(Index row, Index col, std::vector<Part>& parts) const {
    const PlanePoint p = plane_.at(static_cast<double>(row), static_cast<double>(col));
    const double radius = radius_of(p);
    if (radius < bins_.inner || radius >= bins_.outer) return;
    // Rounding must not move the last radius beyond the last bin.
    const Index ring = std::min(static_cast<Index>((radius - bins_.inner) / bins_.width()), bins_.radii - 1);
    const Index angle =
        std::min(static_cast<Index>(angle_of(p) / full_circle * static_cast<double>(bins_.angles)), bins_.angles - 1);
    parts.push_back({ring * bins_.angles + angle, 1});
  }

  void by_box(Index row, Index col, std::vector<Part>& parts) const {
    const PlanePoint centre = plane_.at(static_cast<double>(row), static_cast<double>(col));
    const std::vector<PlanePoint> corners = plane_.corners(row, col);
    const double radius = radius_of(centre), angle = angle_of(centre);
    double reach = 0, spread = 0;
    for (const PlanePoint corner : corners) {
      reach = std::max(reach, std::abs(radius_of(corner) - radius));
      spread = std::max(spread, std::abs(turn(angle, angle_of(corner))));
    }
    if (holds_origin(corners)) spread = std::numbers::pi;
    for_overlaps(std::max(0.0, radius - reach), radius + reach, bins_.inner, bins_.width(), bins_.radii, false,
                 [&](Index ring, double in_ring) {
                   for_overlaps(angle - spread, angle + spread, 0, full_circle / static_cast<double>(bins_.angles),
                                bins_.angles, true, [&](Index sector, double in_sector) {
                                  parts.push_back({ring * bins_.angles + sector, in_ring * in_sector});
                                });
                 });
  }

  void by_area(Index row, Index col, std::vector<Part>& parts) const {
    const std::vector<PlanePoint> corners = plane_.corners(row, col);
    const bool around = holds_origin(corners);
    const double middle = angle_of(plane_.at(static_cast<double>(row), static_cast<double>(col)));
    double least = std::numeric_limits<double>::infinity(), most = 0, spread = 0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      // Nowhere on an edge is the radius below that of an end less half its length.
      const PlanePoint next = corners[(i + 1) % corners.size()];
      const double edge = std::hypot(next.x - corners[i].x, next.y - corners[i].y);
      least = std::min(least, std::max(0.0, radius_of(corners[i]) - edge / 2));
      most = std::max(most, radius_of(corners[i]));
      spread = std::max(spread, std::abs(turn(middle, angle_of(corners[i]))));
    }
    if (around) least = 0;
    const Index first = std::max<Index>(0, static_cast<Index>(std::floor((least - bins_.inner) / bins_.width())));
    const Index last =
        std::min<Index>(bins_.radii - 1, static_cast<Index>(std::floor((most - bins_.inner) / bins_.width())));
    if (first > last) return;
    if (bins_.angles == 1) return add_rings(corners, first, last, 0, parts);
    const double step = full_circle / static_cast<double>(bins_.angles);
    const auto from = around ? Index{0} : static_cast<Index>(std::floor((middle - spread) / step));
    const auto to = around ? bins_.angles - 1 : static_cast<Index>(std::floor((middle + spread) / step));
    for (Index i = from; i <= to; ++i) {
      const double low = static_cast<double>(i) * step;
      const std::vector<PlanePoint> wedge = left_of(corners, low);
      // What is left of one edge and not of the next; sectors are at most half a circle.
      add_rings(left_of(wedge, low + step + std::numbers::pi), first, last,
                ((i % bins_.angles) + bins_.angles) % bins_.angles, parts);
    }
  }

 private:
  void add_rings(const std::vector<PlanePoint>& polygon, Index first, Index last, Index sector,
                 std::vector<Part>& parts) const {
    if (polygon.size() < 3) return;
    double inside = area_in_disk(polygon, bins_.inner + static_cast<double>(first) * bins_.width());
    for (Index ring = first; ring <= last; ++ring) {
      const double within = area_in_disk(polygon, bins_.inner + static_cast<double>(ring + 1) * bins_.width());
      // Below this an area is the rounding of the difference of two.
      if (within - inside > 1e-12) parts.push_back({ring * bins_.angles + sector, within - inside});
      inside = within;
    }
  }

  Plane plane_;
  RadialBins bins_;
};

void check(const RadialGeometry& geometry, const RadialBins& bins, std::span<const std::uint8_t> good) {
  if (geometry.rows < 1 || geometry.cols < 1)
    throw Error(ErrorKind::bad_input,
                fmt::format("a detector of {} x {} pixels has no rings", geometry.rows, geometry.cols));
  if (!std::isfinite(geometry.row) || !std::isfinite(geometry.col))
    throw Error(ErrorKind::bad_input, "the centre of the rings is not a number");
  const Ellipse& ellipse = geometry.ellipse;
  if (!(ellipse.a > 0) || !(ellipse.b > 0) || !std::isfinite(ellipse.a) || !std::isfinite(ellipse.b) ||
      !std::isfinite(ellipse.theta))
    throw Error(ErrorKind::bad_input,
                fmt::format("an ellipse of semi-axes {} and {} has no area", ellipse.a, ellipse.b))
        .hint("give two positive lengths and an angle");
  if (bins.radii < 1 || bins.angles < 1)
    throw Error(ErrorKind::bad_input,
                fmt::format("bins must be at least one radius and one angle, not {} and {}", bins.radii, bins.angles));
  if (!(bins.inner >= 0) || !(bins.outer > bins.inner) || !std::isfinite(bins.outer))
    throw Error(
        ErrorKind::bad_input,
        fmt::format("the outer radius ({1:g} px) is not larger than the inner one ({0:g} px)", bins.inner, bins.outer))
        .hint("give radii of at least 0, the outer one larger");
  if (!good.empty() && static_cast<Index>(good.size()) != geometry.rows * geometry.cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} good pixels for a detector of {} x {}", good.size(), geometry.rows, geometry.cols));
  if (static_cast<double>(bins.radii) * static_cast<double>(bins.angles) > 1e7)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} radii x {} angles are more bins than a pattern has pixels", bins.radii, bins.angles));
}

}  // namespace

std::string_view name(PixelSplit split) { return split_names[static_cast<std::size_t>(split)]; }

PixelSplit parse_pixel_split(std::string_view text) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < std::size(split_names); ++i) {
    if (split_names[i] == text) return static_cast<PixelSplit>(i);
    known.emplace_back(split_names[i]);
  }
  throw Error(ErrorKind::usage, fmt::format("unknown split of pixels \"{}\"{}", text, did_you_mean(text, known)))
      .hint("known: " + join_words(known));
}

BinShares share_among_bins(const RadialGeometry& geometry, const RadialBins& bins, PixelSplit split,
                           std::span<const std::uint8_t> good) {
  check(geometry, bins, good);
  const Sharing sharing(geometry, bins);
  const Index pixels = geometry.rows * geometry.cols;
  BinShares shares;
  shares.first.reserve(static_cast<std::size_t>(pixels) + 1);
  shares.first.push_back(0);
  std::vector<Part> parts;
  for (Index pixel = 0; pixel < pixels; ++pixel) {
    parts.clear();
    const Index row = pixel / geometry.cols, col = pixel % geometry.cols;
    if (good.empty() || good[static_cast<std::size_t>(pixel)] != 0) {
      if (split == PixelSplit::none) sharing.by_centre(row, col, parts);
      if (split == PixelSplit::bbox) sharing.by_box(row, col, parts);
      if (split == PixelSplit::full) sharing.by_area(row, col, parts);
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.bin < b.bin; });
    for (const Part& part : parts) {
      // An interval of angles that goes round meets its first bin twice.
      if (shares.bin.size() > shares.first.back() && shares.bin.back() == static_cast<std::uint32_t>(part.bin)) {
        shares.share.back() += static_cast<float>(part.share);
        continue;
      }
      shares.bin.push_back(static_cast<std::uint32_t>(part.bin));
      shares.share.push_back(static_cast<float>(part.share));
    }
    shares.first.push_back(static_cast<std::uint32_t>(shares.bin.size()));
  }
  if (shares.bin.empty())
    throw Error(ErrorKind::bad_input, fmt::format("no good pixel between {:g} and {:g} px from row {:g}, column {:g}",
                                                  bins.inner, bins.outer, geometry.row, geometry.col))
        .hint("give other radii or another centre");
  return shares;
}

double farthest(const RadialGeometry& geometry) {
  const Plane plane(geometry);
  const double top = -0.5, left = -0.5, below = static_cast<double>(geometry.rows) - 0.5,
               right = static_cast<double>(geometry.cols) - 0.5;
  double most = 0;
  for (const PlanePoint corner :
       {plane.at(top, left), plane.at(top, right), plane.at(below, left), plane.at(below, right)})
    most = std::max(most, radius_of(corner));
  return most;
}

}  // namespace sonde::stem
