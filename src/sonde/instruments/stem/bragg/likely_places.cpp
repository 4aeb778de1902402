// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/likely_places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "sonde/instruments/stem/bragg/refine.h"

namespace sonde::stem {
namespace {

constexpr double beyond_radius = 4;  // px of the window that show the background
constexpr int height_rounds = 2, most_rounds = 5;
constexpr double points_per_px = 64;
// Of a logistic edge exp(-7) is left here, less than a thousandth.
constexpr double edges_beyond = 7;

/// A cubic through four values at -1, 0, 1 and 2 with the slopes of central differences at 0 and 1: weights at t.
std::array<double, 4> cubic(double t) {
  return {t * (-0.5 + t * (1 - 0.5 * t)), 1 + t * t * (-2.5 + 1.5 * t), t * (0.5 + t * (2 - 1.5 * t)),
          t * t * (-0.5 + 0.5 * t)};
}
std::array<double, 4> cubic_slope(double t) {
  return {-0.5 + t * (2 - 1.5 * t), t * (-5 + 4.5 * t), 0.5 + t * (4 - 4.5 * t), t * (-1 + 1.5 * t)};
}

}  // namespace

ProbeShape::ProbeShape(const Probe& probe, Index rows, Index cols) {
  reach_ = probe.radius + edges_beyond * probe.edge;
  if (probe.image.empty()) {
    const auto points = static_cast<std::size_t>(std::ceil(reach_ * points_per_px)) + 2;
    for (std::size_t i = 0; i < points; ++i) {
      // The slope at the centre is of no direction.
      const double distance = std::max(static_cast<double>(i), 0.5) / points_per_px;
      const double value = 1 / (1 + std::exp((distance - probe.radius) / probe.edge));
      by_distance_.push_back({value, -value * (1 - value) / (probe.edge * distance)});
    }
    return;
  }
  const std::vector<double> kernel = make_kernel(probe, rows, cols, {.shape = KernelShape::flat});
  half_ = std::min(static_cast<Index>(std::ceil(reach_)) + 2, (std::min(rows, cols) - 1) / 2);
  reach_ = std::min(reach_, static_cast<double>(half_ - 2));
  double inside = 0, pixels = 0;
  for (Index i = -half_; i <= half_; ++i)
    for (Index j = -half_; j <= half_; ++j) {
      const double value = kernel[static_cast<std::size_t>(wrap(i, rows) * cols + wrap(j, cols))];
      pixels_.push_back(value);
      if (std::hypot(static_cast<double>(i), static_cast<double>(j)) > probe.radius / 2) continue;
      inside += value;
      ++pixels;
    }
  for (double& value : pixels_) value *= pixels / inside;
}

ProbeShape::At ProbeShape::at(double y, double x) const {
  const double square = y * y + x * x;
  if (square >= reach_ * reach_) return {};
  if (!by_distance_.empty()) {
    const double place = std::sqrt(square) * points_per_px;
    const auto i = static_cast<std::size_t>(place);
    const double t = place - static_cast<double>(i);
    const Point &a = by_distance_[i], &b = by_distance_[i + 1];
    const double slope = a.slope_over_distance + t * (b.slope_over_distance - a.slope_over_distance);
    return {a.value + t * (b.value - a.value), slope * y, slope * x};
  }
  const double row = std::floor(y), col = std::floor(x);
  const auto wy = cubic(y - row), sy = cubic_slope(y - row), wx = cubic(x - col), sx = cubic_slope(x - col);
  const Index wide = 2 * half_ + 1;
  const double* from =
      pixels_.data() + (static_cast<Index>(row) - 1 + half_) * wide + static_cast<Index>(col) - 1 + half_;
  At sum;
  for (std::size_t i = 0; i < 4; ++i) {
    double line = 0, slope = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      line += wx[j] * from[j];
      slope += sx[j] * from[j];
    }
    from += wide;
    sum.value += wy[i] * line;
    sum.y += sy[i] * line;
    sum.x += wy[i] * slope;
  }
  return sum;
}

LikelyPlaces::LikelyPlaces(const Probe& probe, Index rows, Index cols, std::span<const std::uint8_t> good, double gain)
    : rows_(rows),
      cols_(cols),
      radius_(probe.radius),
      gain_(gain),
      shape_(probe, rows, cols),
      good_(good.begin(), good.end()) {}

/// body(electrons, row, col) for the good pixels of the window of a disk, which stays where the disk was found.
template <class T, class Body>
void LikelyPlaces::for_each_near(const T* frame, const Disk& disk, Body&& body) const {
  const double reach = radius_ + beyond_radius;
  const auto from = [&](double at) { return std::max<Index>(0, static_cast<Index>(std::ceil(at - reach))); };
  const auto last_row = std::min(rows_ - 1, static_cast<Index>(std::floor(disk.start_y + reach)));
  const auto last_col = std::min(cols_ - 1, static_cast<Index>(std::floor(disk.start_x + reach)));
  for (Index row = from(disk.start_y); row <= last_row; ++row)
    for (Index col = from(disk.start_x); col <= last_col; ++col) {
      const double y = static_cast<double>(row), x = static_cast<double>(col);
      if ((y - disk.start_y) * (y - disk.start_y) + (x - disk.start_x) * (x - disk.start_x) > reach * reach) continue;
      const Index at = row * cols_ + col;
      if (!good_.empty() && good_[static_cast<std::size_t>(at)] == 0) continue;
      body(static_cast<double>(frame[at]) / gain_, y, x);
    }
}

void LikelyPlaces::find_neighbours(Room& disks) const {
  // A pixel for moves.
  const double touching = radius_ + beyond_radius + shape_.reach() + 1;
  for (std::size_t d = 0; d < disks.size(); ++d) {
    disks[d].neighbours.clear();
    for (std::size_t e = 0; e < disks.size(); ++e)
      if (e != d && std::hypot(disks[d].y - disks[e].y, disks[d].x - disks[e].x) < touching)
        disks[d].neighbours.push_back(e);
  }
}

/// Background: the mean of the pixels that no disk reaches, or a quarter of the mean of all; height: that of the inner
/// half of the disk above it.
template <class T>
void LikelyPlaces::guess(const T* frame, Room& disks, std::size_t which) const {
  Disk& disk = disks[which];
  double free = 0, free_pixels = 0, inner = 0, inner_pixels = 0, all = 0, pixels = 0;
  for_each_near(frame, disk, [&](double counts, double y, double x) {
    all += counts;
    ++pixels;
    const double distance = std::hypot(y - disk.y, x - disk.x);
    if (distance <= std::max(1.0, radius_ / 2)) {
      inner += counts;
      ++inner_pixels;
    }
    if (distance < radius_ + 1) return;
    for (const std::size_t e : disk.neighbours)
      if (std::hypot(y - disks[e].y, x - disks[e].x) < radius_ + 1) return;
    free += counts;
    ++free_pixels;
  });
  if (pixels < 8 || inner_pixels == 0) {
    disk.lost = true;
    return;
  }
  // Less than one count in the window: weights stay finite where it is dark.
  disk.least = 0.1 / pixels;
  disk.background = std::max(disk.least, free_pixels > 0 ? free / free_pixels : 0.25 * all / pixels);
  disk.height = std::max(disk.least, inner / inner_pixels - disk.background);
}

/// One step of Fisher's scoring for one disk, the others as they are; of background and height only unless `move`.
/// Length of the move, px.
template <class T>
double LikelyPlaces::score(const T* frame, Room& disks, std::size_t which, bool move) const {
  Disk& disk = disks[which];
  Square<4> information{};
  Few<4> gradient{};
  for_each_near(frame, disk, [&](double counts, double y, double x) {
    const ProbeShape::At here = shape_.at(y - disk.y, x - disk.x);
    double mean = disk.background + disk.height * here.value;
    for (const std::size_t e : disk.neighbours)
      mean += disks[e].height * shape_.at(y - disks[e].y, x - disks[e].x).value;
    mean = std::max(mean, disk.least);
    const Few<4> slopes = {1, here.value, -disk.height * here.y, -disk.height * here.x};
    for (std::size_t i = 0; i < 4; ++i) {
      gradient[i] += slopes[i] * (counts / mean - 1);
      for (std::size_t j = 0; j <= i; ++j) information[i][j] += slopes[i] * slopes[j] / mean;
    }
  });
  disk.information = information;
  if (!move) information[2][0] = information[2][1] = information[3][0] = information[3][1] = 0;
  const auto covariance = inverse_of(information);
  if (!covariance) {
    disk.lost = true;
    return 0;
  }
  if (!move) gradient[2] = gradient[3] = 0;
  const Few<4> step = product(*covariance, gradient);
  disk.background = std::max(disk.least, disk.background + step[0]);
  disk.height = std::max(disk.least, disk.height + step[1]);
  if (!move) return longest_step;
  const double length = std::hypot(step[2], step[3]), part = length > longest_step ? longest_step / length : 1;
  disk.y += part * step[2];
  disk.x += part * step[3];
  if (!(std::hypot(disk.y - disk.start_y, disk.x - disk.start_x) <= farthest_move)) {
    disk.lost = true;
    disk.y = disk.start_y;
    disk.x = disk.start_x;
  }
  return length;
}

/// With the neighbours' information S of (height, y, x), less what their backgrounds take, and C between them and the
/// disk, that of the disk is F - sum C S^-1 C^T.
template <class T>
void LikelyPlaces::add_variance(const T* frame, const Room& disks, std::size_t which, BraggDisk& to) const {
  const Disk& disk = disks[which];
  Square<4> information = disk.information;
  for (const std::size_t e : disk.neighbours) {
    const Disk& other = disks[e];
    if (other.lost) continue;
    const auto covariance = inverse_of(other.information);
    if (!covariance) continue;
    std::array<Few<4>, 4> cross{};
    for_each_near(frame, disk, [&](double, double y, double x) {
      const ProbeShape::At there = shape_.at(y - other.y, x - other.x);
      if (there.value == 0) return;
      const ProbeShape::At here = shape_.at(y - disk.y, x - disk.x);
      double mean = disk.background + disk.height * here.value;
      for (const std::size_t each : disk.neighbours)
        mean += disks[each].height * shape_.at(y - disks[each].y, x - disks[each].x).value;
      const Few<4> slopes = {1, here.value, -disk.height * here.y, -disk.height * here.x};
      // Its background is another one.
      const Few<4> of_other = {0, there.value, -other.height * there.y, -other.height * there.x};
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 1; j < 4; ++j) cross[i][j] += slopes[i] * of_other[j] / std::max(mean, disk.least);
    });
    for (std::size_t i = 0; i < 4; ++i) {
      const Few<4> turned = product(*covariance, cross[i]);
      for (std::size_t j = 0; j <= i; ++j)
        for (std::size_t k = 1; k < 4; ++k) information[i][j] -= turned[k] * cross[j][k];
    }
  }
  const auto covariance = inverse_of(information);
  if (!covariance) return;
  to.var_y = static_cast<float>((*covariance)[2][2]);
  to.var_x = static_cast<float>((*covariance)[3][3]);
}

template <class T>
void LikelyPlaces::refine(const T* frame, std::span<BraggDisk> disks, Room& room) const {
  room.resize(disks.size());
  for (std::size_t d = 0; d < disks.size(); ++d) {
    Disk& disk = room[d];
    disk.y = disk.start_y = static_cast<double>(disks[d].qy);
    disk.x = disk.start_x = static_cast<double>(disks[d].qx);
    disk.lost = false;
  }
  find_neighbours(room);
  for (std::size_t d = 0; d < room.size(); ++d) guess(frame, room, d);
  for (int round = 0; round < height_rounds + most_rounds; ++round) {
    double farthest = 0;
    for (std::size_t d = 0; d < room.size(); ++d)
      if (!room[d].lost) farthest = std::max(farthest, score(frame, room, d, round >= height_rounds));
    if (farthest < small_step) break;
  }
  for (std::size_t d = 0; d < room.size(); ++d) {
    // A disk of no counts has no place.
    if (room[d].lost || !(room[d].height > room[d].least)) continue;
    disks[d].qy = static_cast<float>(room[d].y);
    disks[d].qx = static_cast<float>(room[d].x);
    if constexpr (std::is_integral_v<T>) add_variance(frame, room, d, disks[d]);
  }
}

#define SONDE_LIKELY_PLACES(T) \
  template void LikelyPlaces::refine<T>(const T*, std::span<BraggDisk>, LikelyPlaces::Room&) const;
SONDE_LIKELY_PLACES(std::uint8_t)
SONDE_LIKELY_PLACES(std::uint16_t)
SONDE_LIKELY_PLACES(std::uint32_t)
SONDE_LIKELY_PLACES(std::uint64_t)
SONDE_LIKELY_PLACES(float)
SONDE_LIKELY_PLACES(double)
#undef SONDE_LIKELY_PLACES

}  // namespace sonde::stem
