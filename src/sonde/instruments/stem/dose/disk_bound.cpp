// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/disk_bound.h"

#include <algorithm>
#include <cmath>

namespace sonde::stem {
namespace {

constexpr double ring_width = 0.25;  // px

/// body(value, dy, dx) for the pixels no farther than `reach`. False where the window leaves the pattern.
template <class Body>
bool for_each_near(View<const float, 2> pattern, double y, double x, double reach, Body&& body) {
  const auto first_row = static_cast<Index>(std::ceil(y - reach)), last_row = static_cast<Index>(std::floor(y + reach));
  const auto first_col = static_cast<Index>(std::ceil(x - reach)), last_col = static_cast<Index>(std::floor(x + reach));
  if (first_row < 0 || first_col < 0 || last_row >= pattern.extent[0] || last_col >= pattern.extent[1]) return false;
  for (Index row = first_row; row <= last_row; ++row)
    for (Index col = first_col; col <= last_col; ++col) {
      const double dy = static_cast<double>(row) - y, dx = static_cast<double>(col) - x;
      if (dy * dy + dx * dx <= reach * reach) body(static_cast<double>(pattern(row, col)), dy, dx);
    }
  return true;
}

/// Weighted sums of a straight line through counts against the profile.
struct LineSums {
  double w = 0, p = 0, pp = 0, i = 0, pi = 0;

  void add(double weight, double profile, double counts) {
    w += weight;
    p += weight * profile;
    pp += weight * profile * profile;
    i += weight * counts;
    pi += weight * profile * counts;
  }
  [[nodiscard]] double determinant() const { return w * pp - p * p; }
};

/// Distance where values fall through a level, between rings; nothing where they do not.
std::optional<double> fall_through(const std::vector<double>& values, double level) {
  for (std::size_t ring = 1; ring < values.size(); ++ring)
    if (values[ring - 1] >= level && values[ring] < level)
      return ring_width *
             (static_cast<double>(ring) - 0.5 + (values[ring - 1] - level) / (values[ring - 1] - values[ring]));
  return std::nullopt;
}

}  // namespace

double DiskProfile::at(double distance) const { return 1 / (1 + std::exp((distance - radius) / edge)); }

double DiskProfile::slope(double distance) const {
  const double value = at(distance);
  return -value * (1 - value) / edge;
}

std::optional<CountedDisk> count_disk(View<const float, 2> pattern, const DiskProfile& profile, double y, double x,
                                      double reach) {
  constexpr int scoring_steps = 4;  // the likelihood is nearly quadratic: the third step changes heights by 0.1 %
  CountedDisk disk;
  double total = 0, pixels = 0, profile_sum = 0;
  const bool inside = for_each_near(pattern, y, x, reach, [&](double counts, double dy, double dx) {
    total += counts;
    ++pixels;
    profile_sum += profile.at(std::hypot(dy, dx));
  });
  if (!inside || !(profile_sum > 0)) return std::nullopt;
  // Less than one count in the window: weights stay finite where it is dark.
  const double least = 0.1 / pixels;
  disk.background = std::max(total / pixels, least);
  for (int step = 0; step < scoring_steps; ++step) {
    LineSums sums;
    for_each_near(pattern, y, x, reach, [&](double counts, double dy, double dx) {
      const double p = profile.at(std::hypot(dy, dx));
      sums.add(1 / (disk.background + disk.height * p), p, counts);
    });
    if (!(sums.determinant() > 0)) return std::nullopt;
    disk.height = std::max(0.0, (sums.w * sums.pi - sums.p * sums.i) / sums.determinant());
    disk.background = std::max(least, (sums.i - disk.height * sums.p) / sums.w);
    disk.height_sigma = std::sqrt(sums.w / sums.determinant());
  }
  disk.counts = disk.height * profile_sum;
  double of_y = 0, of_x = 0;
  for_each_near(pattern, y, x, reach, [&](double, double dy, double dx) {
    const double distance = std::hypot(dy, dx);
    if (distance == 0) return;
    const double slope = disk.height * profile.slope(distance) / distance;
    const double mean = disk.background + disk.height * profile.at(distance);
    of_y += slope * slope * dy * dy / mean;
    of_x += slope * slope * dx * dx / mean;
  });
  disk.bound_y = 1 / std::sqrt(of_y);
  disk.bound_x = 1 / std::sqrt(of_x);
  return disk;
}

RadialProfile::RadialProfile(double reach)
    : reach_(reach), sums_(static_cast<std::size_t>(reach / ring_width) + 1), pixels_(sums_.size()) {}

void RadialProfile::add(View<const float, 2> pattern, double y, double x) {
  for_each_near(pattern, y, x, reach_, [&](double counts, double dy, double dx) {
    const auto ring = static_cast<std::size_t>(std::hypot(dy, dx) / ring_width);
    sums_[ring] += counts;
    pixels_[ring] += 1;
  });
}

std::optional<DiskProfile> RadialProfile::disk(double about_radius) const {
  constexpr double outermost = 0.75;  // px: three rings
  std::vector<double> means;
  double inner = 0, inner_pixels = 0, outer = 0, outer_pixels = 0;
  for (std::size_t ring = 0; ring < sums_.size(); ++ring) {
    // No pixel may be at such a distance from the few places: the next ring stands for it.
    if (pixels_[ring] == 0) continue;
    means.resize(ring + 1, sums_[ring] / pixels_[ring]);
    const double distance = static_cast<double>(ring) * ring_width;
    if (distance < about_radius / 2) {
      inner += sums_[ring];
      inner_pixels += pixels_[ring];
    } else if (distance >= reach_ - outermost) {
      outer += sums_[ring];
      outer_pixels += pixels_[ring];
    }
  }
  if (!(inner_pixels > 0) || !(outer_pixels > 0)) return std::nullopt;
  const double level = inner / inner_pixels, beyond = outer / outer_pixels;
  const auto part = [&](double share) { return fall_through(means, beyond + share * (level - beyond)); };
  const auto far = part(0.25), middle = part(0.5), near = part(0.75);
  if (!far || !middle || !near || !(*far > *near)) return std::nullopt;
  return DiskProfile{*middle, (*far - *near) / (2 * std::log(3.0))};
}

}  // namespace sonde::stem
