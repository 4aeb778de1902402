// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/pattern_background.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::stem {
namespace {

double median_of_ring(std::span<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const auto upper = static_cast<double>(*middle);
  if (values.size() % 2 == 1) return upper;
  return (upper + static_cast<double>(*std::max_element(values.begin(), middle))) / 2;
}

/// Replaces NaN by what is on the line between the nearest numbers, at the ends by the nearest one.
void bridge(std::vector<double>& levels) {
  std::size_t before = levels.size();
  for (std::size_t k = 0; k < levels.size(); ++k) {
    if (std::isnan(levels[k])) continue;
    const std::size_t from = before == levels.size() ? 0 : before + 1;
    for (std::size_t i = from; i < k; ++i)
      levels[i] = from == 0 ? levels[k]
                            : std::lerp(levels[before], levels[k],
                                        static_cast<double>(i - before) / static_cast<double>(k - before));
    before = k;
  }
  if (before == levels.size()) return std::fill(levels.begin(), levels.end(), 0.0);
  for (std::size_t i = before + 1; i < levels.size(); ++i) levels[i] = levels[before];
}

}  // namespace

double PatternRings::distance(Index pixel) const {
  return std::hypot(static_cast<double>(pixel / cols_) - row_, static_cast<double>(pixel % cols_) - col_);
}

PatternRings::PatternRings(const DiskSettings& settings, Index rows, Index cols, double hold,
                           std::span<const std::uint8_t> good)
    : cols_(cols), row_(settings.background_row), col_(settings.background_col), first_ring_(0) {
  const bool rings = settings.background == PatternBackground::radial_median;
  if (rings) first_ring_ = static_cast<std::size_t>(std::ceil(hold));
  const auto pixels = static_cast<std::size_t>(rows * cols);
  ring_.assign(pixels, 0);
  share_.assign(pixels, 0);
  std::vector<std::vector<std::uint32_t>> of(1);
  for (std::size_t i = 0; i < pixels; ++i) {
    const double r = rings ? distance(static_cast<Index>(i)) : 0;
    ring_[i] = static_cast<std::uint32_t>(r);
    share_[i] = static_cast<float>(r - std::floor(r));
    const auto nearest = static_cast<std::size_t>(std::floor(r + 0.5));
    if (std::max<std::size_t>(nearest, ring_[i] + 1) >= of.size())
      of.resize(std::max<std::size_t>(nearest, ring_[i] + 1) + 1);
    if (good.empty() || good[i] != 0)
      of[nearest].push_back(static_cast<std::uint32_t>(i));
    else
      bad_.push_back(static_cast<std::uint32_t>(i));
  }
  first_ring_ = std::min(first_ring_, of.size() - 1);
  for (const std::vector<std::uint32_t>& ring : of) {
    by_ring_.insert(by_ring_.end(), ring.begin(), ring.end());
    ends_.push_back(by_ring_.size());
  }
}

std::size_t PatternRings::bytes() const {
  return sizeof(std::uint32_t) * (by_ring_.size() + ring_.size() + bad_.size()) + sizeof(float) * share_.size() +
         sizeof(std::size_t) * ends_.size();
}

void PatternRings::subtract(float* pattern, Room& room) const {
  room.sorted.resize(by_ring_.size());
  for (std::size_t i = 0; i < by_ring_.size(); ++i) room.sorted[i] = pattern[by_ring_[i]];
  room.levels.assign(ends_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t k = first_ring_; k < ends_.size(); ++k) {
    const std::size_t first = k == 0 ? 0 : ends_[k - 1];
    if (ends_[k] > first) room.levels[k] = median_of_ring(std::span(room.sorted).subspan(first, ends_[k] - first));
  }
  bridge(room.levels);
  for (const std::uint32_t i : bad_)
    if (pattern[i] == 0) pattern[i] = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    const double here = room.levels[ring_[i]], next = room.levels[ring_[i] + 1];
    pattern[i] -= static_cast<float>(here + static_cast<double>(share_[i]) * (next - here));
  }
  for (const std::uint32_t i : bad_)
    if (std::isnan(pattern[i])) pattern[i] = 0;
}

}  // namespace sonde::stem
