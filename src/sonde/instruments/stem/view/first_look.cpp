// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/first_look.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

using panel::Frame;
using panel::FrameKind;

constexpr Index most_along_an_axis = 32;
constexpr std::size_t most_bytes = std::size_t{16} << 20;

}  // namespace

FirstLook::FirstLook(PatternPreview& patterns, const Shape& shape)
    : scan_rows_(shape[0]), scan_cols_(shape[1]), rows_(shape[2]), cols_(shape[3]) {
  const auto pixels = static_cast<std::size_t>(rows_ * cols_);
  // The first pattern shows whether these are counts.
  const Array first = patterns.pattern(0, 0);
  const bool counts = first.dtype() != DType::f32;
  const std::size_t pattern_bytes = pixels * (counts ? sizeof(std::uint16_t) : sizeof(float));
  const auto fitting = static_cast<Index>(std::sqrt(static_cast<double>(most_bytes / pattern_bytes)));
  const Index along = std::clamp<Index>(fitting, 1, most_along_an_axis);
  grid_rows_ = std::min(along, scan_rows_);
  grid_cols_ = std::min(along, scan_cols_);
  const auto positions = static_cast<std::size_t>(grid_rows_ * grid_cols_);
  if (counts)
    patterns_ = std::vector<std::uint16_t>(positions * pixels);
  else
    patterns_ = std::vector<float>(positions * pixels);

  Array mean(Device::cpu(), {rows_, cols_}, DType::f64);
  auto* total = static_cast<double*>(mean.data());
  std::fill_n(total, pixels, 0.0);
  for (std::size_t p = 0; p < positions; ++p) {
    const Index k = static_cast<Index>(p);
    const Array pattern =
        patterns.pattern(place(k / grid_cols_, grid_rows_, scan_rows_), place(k % grid_cols_, grid_cols_, scan_cols_));
    const auto take = [&](const auto* from, auto* to, auto most) {
      for (std::size_t q = 0; q < pixels; ++q) {
        to[q] = static_cast<std::remove_reference_t<decltype(*to)>>(std::min(from[q], most));
        total[q] += static_cast<double>(to[q]) / static_cast<double>(positions);
      }
    };
    if (counts)
      take(static_cast<const std::uint32_t*>(pattern.data()),
           std::get<std::vector<std::uint16_t>>(patterns_).data() + p * pixels,
           std::uint32_t{std::numeric_limits<std::uint16_t>::max()});
    else
      take(static_cast<const float*>(pattern.data()), std::get<std::vector<float>>(patterns_).data() + p * pixels,
           std::numeric_limits<float>::max());
  }
  try {
    beam_ = find_disk(View<const double, 2>(mean.view<double, 2>()), {}, CentreMethod::edge);
  } catch (const Error&) {  // no beam: presets are for later
  }
}

template <class T>
std::vector<T> FirstLook::spread(const std::vector<T>& grid) const {
  std::vector<T> image(static_cast<std::size_t>(scan_rows_ * scan_cols_));
  for (Index row = 0; row < scan_rows_; ++row)
    for (Index col = 0; col < scan_cols_; ++col)
      image[static_cast<std::size_t>(row * scan_cols_ + col)] = grid[static_cast<std::size_t>(
          nearest(row, grid_rows_, scan_rows_) * grid_cols_ + nearest(col, grid_cols_, scan_cols_))];
  return image;
}

Frame FirstLook::image(const Mask& mask) const {
  const auto positions = static_cast<std::size_t>(grid_rows_ * grid_cols_);
  const auto pixels = static_cast<std::size_t>(rows_ * cols_);
  const auto* counts = std::get_if<std::vector<std::uint16_t>>(&patterns_);
  if (counts != nullptr && mask.boolean()) {
    std::vector<std::uint64_t> sums(positions);
    for (std::size_t p = 0; p < positions; ++p)
      for (const Index pixel : mask.pixels) sums[p] += (*counts)[p * pixels + static_cast<std::size_t>(pixel)];
    return panel::make_count_frame(FrameKind::image, scan_rows_, scan_cols_, spread(sums));
  }
  std::vector<float> sums(positions);
  std::visit(
      [&](const auto& patterns) {
        for (std::size_t p = 0; p < positions; ++p) {
          double sum = 0;
          for (std::size_t i = 0; i < mask.pixels.size(); ++i)
            sum += (mask.boolean() ? 1.0 : static_cast<double>(mask.weights[i])) *
                   static_cast<double>(patterns[p * pixels + static_cast<std::size_t>(mask.pixels[i])]);
          sums[p] = static_cast<float>(sum);
        }
      },
      patterns_);
  return panel::make_frame<float>(FrameKind::image, scan_rows_, scan_cols_, spread(sums));
}

Frame FirstLook::moment(bool of_rows) const {
  const auto positions = static_cast<std::size_t>(grid_rows_ * grid_cols_);
  const Index pixels = rows_ * cols_;
  std::vector<float> moments(positions);
  std::visit(
      [&](const auto& patterns) {
        for (std::size_t p = 0; p < positions; ++p) {
          const auto* pattern = patterns.data() + p * static_cast<std::size_t>(pixels);
          double total = 0, moment = 0;
          for (Index q = 0; q < pixels; ++q) {
            total += static_cast<double>(pattern[q]);
            moment += static_cast<double>(of_rows ? q / cols_ : q % cols_) * static_cast<double>(pattern[q]);
          }
          moments[p] = static_cast<float>(moment / total);  // not a number where nothing was counted
        }
      },
      patterns_);
  return panel::make_frame<float>(FrameKind::image, scan_rows_, scan_cols_, spread(moments));
}

}  // namespace sonde::stem
