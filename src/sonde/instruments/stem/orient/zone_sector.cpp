// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/zone_sector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace sonde::stem {
namespace {

constexpr int highest_corner = 4;  // index of a corner: [2 1 0] of hexagonal cells

/// Normals of the mirrors, toward a direction in no special place.
std::vector<Vec3> mirrors_of(const PointGroup& group, const Vec3& inside) {
  std::vector<Vec3> normals;
  for (const Mat3& turn : group.cartesian) {
    if (determinant(turn) > 0 || std::abs(trace(turn) - 1) > 0.1) continue;
    // A mirror takes v to v - 2 (v.n) n.
    const Vec3 across = sum(inside, scaled(-1, times(turn, inside)));
    normals.push_back(normalised(across));
  }
  return normals;
}

std::vector<Vec3> corners_between(const std::vector<Vec3>& mirrors) {
  std::vector<Vec3> corners;
  const auto add = [&](const Vec3& corner) {
    const auto outside = [&](const Vec3& mirror) { return dot(mirror, corner) < -1e-6; };
    const auto same = [&](const Vec3& each) { return dot(each, corner) > 1 - 1e-6; };
    if (std::none_of(mirrors.begin(), mirrors.end(), outside) && std::none_of(corners.begin(), corners.end(), same))
      corners.push_back(corner);
  };
  for (std::size_t i = 0; i < mirrors.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Vec3 edge = cross(mirrors[i], mirrors[j]);
      if (length(edge) < 1e-6) continue;
      add(normalised(edge));
      add(scaled(-1, normalised(edge)));
    }
  return corners;
}

/// The smallest indices of a direction.
Miller zone_along(const Crystal& crystal, const Vec3& direction) {
  const Vec3 parts = times(inverse(crystal.cell.axes()), direction);
  const double largest = std::max({std::abs(parts[0]), std::abs(parts[1]), std::abs(parts[2])});
  Miller zone{};
  for (int index = 1; index <= highest_corner; ++index) {
    double off = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double scaled_part = parts[i] / largest * index;
      zone[i] = static_cast<int>(std::lround(scaled_part));
      off = std::max(off, std::abs(scaled_part - std::round(scaled_part)));
    }
    if (off < 0.01) break;
  }
  return zone;
}

int size_of(const Miller& zone) { return std::abs(zone[0]) + std::abs(zone[1]) + std::abs(zone[2]); }

}  // namespace

ZoneSector::ZoneSector(const Crystal& crystal, const PointGroup& group) : group_(group) {
  centre_ = normalised({0.2137, 0.1093, 0.9707});
  const std::vector<Vec3> found = corners_between(mirrors_of(group, centre_));
  if (found.size() != 3) return;
  corners_.emplace();
  for (std::size_t i = 0; i < 3; ++i) (*corners_)[i] = {found[i], zone_along(crystal, found[i])};
  std::sort(corners_->begin(), corners_->end(), [](const Corner& a, const Corner& b) {
    return size_of(a.zone) != size_of(b.zone) ? size_of(a.zone) < size_of(b.zone) : a.direction[2] > b.direction[2];
  });
  const auto& corners = *corners_;
  to_shares_ = inverse(transposed({corners[0].direction, corners[1].direction, corners[2].direction}));
  centre_ = normalised(sum(found[0], sum(found[1], found[2])));
}

Vec3 ZoneSector::reduced(const Vec3& direction) const {
  Vec3 nearest = direction;
  for (const Mat3& turn : group_.cartesian)
    if (const Vec3 equal = times(turn, direction); dot(equal, centre_) > dot(nearest, centre_)) nearest = equal;
  return nearest;
}

Vec3 ZoneSector::shares(const Vec3& direction) const {
  return corners_ ? times(to_shares_, direction)
                  : Vec3{std::abs(direction[0]), std::abs(direction[1]), std::abs(direction[2])};
}

Colour ZoneSector::colour(const Vec3& direction) const {
  const Vec3 parts = shares(reduced(direction));
  const double largest = std::max({parts[0], parts[1], parts[2]});
  const auto byte = [&](double part) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(part / largest, 0.0, 1.0)));
  };
  return {byte(parts[0]), byte(parts[1]), byte(parts[2])};
}

std::string ZoneSector::legend_text() const {
  if (!corners_) return "red, green and blue: parts along the axes";
  const auto text = [&](std::size_t i) {
    const Miller& zone = (*corners_)[i].zone;
    return fmt::format("[{} {} {}]", zone[0], zone[1], zone[2]);
  };
  return fmt::format("red {}, green {}, blue {}", text(0), text(1), text(2));
}

Array ZoneSector::legend(Index side) const {
  if (!corners_) return {};
  // Projected from the point opposite the first corner, which is in the middle of the left edge.
  const Vec3 pole = (*corners_)[0].direction;
  const Vec3 toward = (*corners_)[1].direction;
  const Vec3 across = normalised(sum(toward, scaled(-dot(toward, pole), pole)));
  Vec3 up = cross(pole, across);
  if (dot(up, (*corners_)[2].direction) < 0) up = scaled(-1, up);
  Array picture(Device::cpu(), Shape{side, side, 3}, DType::u8);
  const auto view = picture.view<std::uint8_t, 3>();
  std::fill_n(view.data, picture.count(), std::uint8_t{255});
  double reach = 0;
  for (const Corner& corner : *corners_)
    reach = std::max(reach, length(sum(corner.direction, scaled(-dot(corner.direction, pole), pole))) /
                                (1 + dot(corner.direction, pole)));
  for (Index row = 0; row < side; ++row)
    for (Index col = 0; col < side; ++col) {
      const double x = reach * static_cast<double>(col) / static_cast<double>(side - 1);
      const double y = reach * static_cast<double>(side - 1 - row) / static_cast<double>(side - 1);
      const double far = x * x + y * y;
      const Vec3 direction =
          scaled(1 / (1 + far), sum(scaled(1 - far, pole), sum(scaled(2 * x, across), scaled(2 * y, up))));
      const Vec3 parts = shares(direction);
      if (std::min({parts[0], parts[1], parts[2]}) < 0) continue;
      const Colour colour = this->colour(direction);
      view(row, col, 0) = colour.red;
      view(row, col, 1) = colour.green;
      view(row, col, 2) = colour.blue;
    }
  return picture;
}

}  // namespace sonde::stem
