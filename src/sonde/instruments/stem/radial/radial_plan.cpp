// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/radial_plan.h"

#include <algorithm>
#include <type_traits>

#include "sonde/instruments/stem/radial/radial_kernels.h"

namespace sonde::stem {

using cpu::radial_lanes;

RadialPlan RadialPlan::prepare(const RadialGeometry& geometry, const RadialBins& bins, PixelSplit split,
                               std::span<const std::uint8_t> good) {
  RadialPlan plan;
  plan.geometry_ = geometry;
  plan.bins_ = bins;
  plan.split_ = split;
  plan.shares_ = share_among_bins(geometry, bins, split, good);
  plan.area_.assign(static_cast<std::size_t>(bins.count()), 0);
  for (std::size_t e = 0; e < plan.shares_.bin.size(); ++e) plan.area_[plan.shares_.bin[e]] += plan.shares_.share[e];
  plan.fullest_ = *std::max_element(plan.area_.begin(), plan.area_.end());
  if (split != PixelSplit::none) return plan;
  plan.label_.assign(plan.shares_.first.size() - 1, static_cast<std::uint32_t>(bins.count()));
  for (std::size_t p = 0; p < plan.label_.size(); ++p)
    if (plan.shares_.first[p] < plan.shares_.first[p + 1]) plan.label_[p] = plan.shares_.bin[plan.shares_.first[p]];
  plan.shares_ = {};
  return plan;
}

std::size_t RadialPlan::bytes() const {
  return area_.size() * sizeof(double) + label_.size() * sizeof(std::uint32_t) +
         (shares_.first.size() + shares_.bin.size()) * sizeof(std::uint32_t) + shares_.share.size() * sizeof(float);
}

RadialPlan::Scratch::Scratch(const RadialPlan& plan)
    : sums_(static_cast<std::size_t>((plan.bins_.count() + 1) * radial_lanes)), squares_(sums_.size()) {}

std::size_t RadialPlan::Scratch::bytes(const RadialBins& bins) {
  return 2 * sizeof(double) * static_cast<std::size_t>((bins.count() + 1) * radial_lanes);
}

template <class T>
void RadialPlan::run_group(const T* const* frames, Index count, double largest, Scratch& scratch, double* sums,
                           double* squares) const {
  const Index bins = bins_.count(), pixels = geometry_.rows * geometry_.cols;
  std::fill(scratch.sums_.begin(), scratch.sums_.end(), 0);
  std::fill(scratch.squares_.begin(), scratch.squares_.end(), 0);
  const auto hand_on = [&](const auto* even, const auto* odd) {
    for (Index k = 0; k < count; ++k)
      for (Index b = 0; b < bins; ++b) {
        const double sum = static_cast<double>(even[b * radial_lanes + k] + odd[b * radial_lanes + k]);
        sums[k * bins + b] = sum;
        if (squares != nullptr) squares[k * bins + b] = sum;
      }
  };
  const auto add_labelled = [&](auto sum) {
    using Sum = decltype(sum);
    auto* even = reinterpret_cast<Sum*>(scratch.sums_.data());
    auto* odd = reinterpret_cast<Sum*>(scratch.squares_.data());
    cpu::add_labelled({pixels, label_.data()}, frames, even, odd);
    hand_on(even, odd);
  };
  if (split_ == PixelSplit::none) {
    if constexpr (std::is_floating_point_v<T>)
      add_labelled(double{});
    else if constexpr (sizeof(T) == 8)
      add_labelled(std::uint64_t{});
    else if (largest * fullest_ < 0x1p32)
      add_labelled(std::uint32_t{});
    else
      add_labelled(std::uint64_t{});
    return;
  }
  cpu::add_shared({pixels, shares_.first.data(), shares_.bin.data(), shares_.share.data()}, frames,
                  scratch.sums_.data(), squares == nullptr ? nullptr : scratch.squares_.data());
  for (Index k = 0; k < count; ++k)
    for (Index b = 0; b < bins; ++b) {
      sums[k * bins + b] = scratch.sums_[static_cast<std::size_t>(b * radial_lanes + k)];
      if (squares != nullptr) squares[k * bins + b] = scratch.squares_[static_cast<std::size_t>(b * radial_lanes + k)];
    }
}

template <class T>
void RadialPlan::run(const T* frames, Index count, double largest, Scratch& scratch, std::span<double> sums,
                     std::span<double> squares) const {
  const Index pixels = geometry_.rows * geometry_.cols, bins = bins_.count();
  for (Index first = 0; first < count; first += radial_lanes) {
    const Index together = std::min(radial_lanes, count - first);
    const T* group[radial_lanes];
    // Where frames are missing the last one is summed again, and left out.
    for (Index k = 0; k < radial_lanes; ++k) group[k] = frames + (first + std::min(k, together - 1)) * pixels;
    run_group(group, together, largest, scratch, sums.data() + first * bins,
              squares.empty() ? nullptr : squares.data() + first * bins);
  }
}

void RadialPlan::run(const SparseFrames& frames, std::span<double> sums, std::span<double> squares) const {
  std::fill(sums.begin(), sums.end(), 0.0);
  std::fill(squares.begin(), squares.end(), 0.0);
  const auto bins = static_cast<std::size_t>(bins_.count());
  for (std::size_t k = 0; k + 1 < frames.first.size(); ++k) {
    double* const to = sums.data() + k * bins;
    double* const to_squares = squares.empty() ? nullptr : squares.data() + k * bins;
    for (std::size_t i = frames.first[k]; i < frames.first[k + 1]; ++i) {
      const auto pixel = static_cast<std::size_t>(frames.pixel[i]);
      const auto count = static_cast<double>(frames.count[i]);
      if (split_ == PixelSplit::none) {  // the shares are whole, and beyond the last bin is none
        if (label_[pixel] >= bins) continue;
        to[label_[pixel]] += count;
        if (to_squares != nullptr) to_squares[label_[pixel]] += count;
        continue;
      }
      for (std::uint32_t e = shares_.first[pixel]; e < shares_.first[pixel + 1]; ++e) {
        const double share = shares_.share[e];
        to[shares_.bin[e]] += share * count;
        if (to_squares != nullptr) to_squares[shares_.bin[e]] += share * (share * count);
      }
    }
  }
}

template void RadialPlan::run(const std::uint8_t*, Index, double, Scratch&, std::span<double>, std::span<double>) const;
template void RadialPlan::run(const std::uint16_t*, Index, double, Scratch&, std::span<double>,
                              std::span<double>) const;
template void RadialPlan::run(const std::uint32_t*, Index, double, Scratch&, std::span<double>,
                              std::span<double>) const;
template void RadialPlan::run(const std::uint64_t*, Index, double, Scratch&, std::span<double>,
                              std::span<double>) const;
template void RadialPlan::run(const float*, Index, double, Scratch&, std::span<double>, std::span<double>) const;
template void RadialPlan::run(const double*, Index, double, Scratch&, std::span<double>, std::span<double>) const;

}  // namespace sonde::stem
