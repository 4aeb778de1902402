// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/probe_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

/// sum over the modes of |P|^2, and its total; checked.
struct Intensity {
  Index rows = 0, cols = 0;
  double total = 0;
  std::vector<double> values;
};

Intensity intensity_of(const Array& probe, double share) {
  const View<const complex128, 3> p = probe.view<complex128, 3>();
  Intensity result{p.extent[1], p.extent[2], 0,
                   std::vector<double>(static_cast<std::size_t>(p.extent[1] * p.extent[2]))};
  for (Index mode = 0; mode < p.extent[0]; ++mode)
    for (Index row = 0; row < result.rows; ++row)
      for (Index col = 0; col < result.cols; ++col) {
        const double value = std::norm(p(mode, row, col));
        result.values[static_cast<std::size_t>(row * result.cols + col)] += value;
        result.total += value;
      }
  if (!(result.total > 0) || !std::isfinite(result.total))
    throw Error(ErrorKind::bad_input, fmt::format("a probe of power {} has no support", result.total));
  if (!(share > 0) || share > 1)
    throw Error(ErrorKind::bad_input, fmt::format("a share of {} of the probe's power", share));
  return result;
}

// What rounding may lose of a sum that should be the whole power.
constexpr double rounding = 1e-12;

}  // namespace

Box probe_support(const Array& probe, double share) {
  const Intensity intensity = intensity_of(probe, share);
  const Index centre_row = intensity.rows / 2, centre_col = intensity.cols / 2;
  // Power by the half-width of the smallest centred square that reaches a pixel.
  std::vector<double> rings(static_cast<std::size_t>(std::max(intensity.rows, intensity.cols) / 2 + 1));
  for (Index row = 0; row < intensity.rows; ++row)
    for (Index col = 0; col < intensity.cols; ++col)
      rings[static_cast<std::size_t>(std::max(std::abs(row - centre_row), std::abs(col - centre_col)))] +=
          intensity.values[static_cast<std::size_t>(row * intensity.cols + col)];
  Index half = 0;
  double inside = rings[0];
  while (inside < (share - rounding) * intensity.total && half + 1 < static_cast<Index>(rings.size()))
    inside += rings[static_cast<std::size_t>(++half)];
  const Index row = std::max<Index>(centre_row - half, 0), col = std::max<Index>(centre_col - half, 0);
  return {row, col, std::min(centre_row + half + 1, intensity.rows) - row,
          std::min(centre_col + half + 1, intensity.cols) - col};
}

double probe_diameter(const Array& probe, const Sampling& sampling, double share) {
  const Intensity intensity = intensity_of(probe, share);
  double row_sum = 0, col_sum = 0;
  for (Index row = 0; row < intensity.rows; ++row)
    for (Index col = 0; col < intensity.cols; ++col) {
      const double value = intensity.values[static_cast<std::size_t>(row * intensity.cols + col)];
      row_sum += value * static_cast<double>(row);
      col_sum += value * static_cast<double>(col);
    }
  const double centre_row = row_sum / intensity.total, centre_col = col_sum / intensity.total;
  std::vector<std::pair<double, double>> by_radius;
  by_radius.reserve(intensity.values.size());
  for (Index row = 0; row < intensity.rows; ++row)
    for (Index col = 0; col < intensity.cols; ++col)
      by_radius.emplace_back(std::hypot((static_cast<double>(row) - centre_row) * sampling.pixel_row(),
                                        (static_cast<double>(col) - centre_col) * sampling.pixel_col()),
                             intensity.values[static_cast<std::size_t>(row * intensity.cols + col)]);
  std::sort(by_radius.begin(), by_radius.end());
  double inside = 0;
  for (const auto& [radius, value] : by_radius) {
    inside += value;
    if (inside >= (share - rounding) * intensity.total) return 2 * radius;
  }
  return 2 * by_radius.back().first;
}

double linear_overlap(double step, double diameter) { return diameter > 0 ? 1 - step / diameter : 0; }

}  // namespace sonde::ptycho
