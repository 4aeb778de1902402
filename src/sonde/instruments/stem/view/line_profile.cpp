// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/line_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::stem {
namespace {

/// Not-a-number more than half a pixel outside.
double bilinear(View<const double, 2> image, Place at) {
  const auto rows = static_cast<double>(image.extent[0]), cols = static_cast<double>(image.extent[1]);
  if (!(at.row >= -0.5 && at.col >= -0.5 && at.row <= rows - 0.5 && at.col <= cols - 0.5))
    return std::numeric_limits<double>::quiet_NaN();
  const double row = std::clamp(at.row, 0.0, rows - 1), col = std::clamp(at.col, 0.0, cols - 1);
  const auto r = std::min(static_cast<Index>(row), std::max<Index>(0, image.extent[0] - 2));
  const auto c = std::min(static_cast<Index>(col), std::max<Index>(0, image.extent[1] - 2));
  const Index r1 = std::min(r + 1, image.extent[0] - 1), c1 = std::min(c + 1, image.extent[1] - 1);
  const double y = row - static_cast<double>(r), x = col - static_cast<double>(c);
  // A weight of zero must not spread what is not a number.
  const auto part = [&](Index i, Index j, double weight) { return weight == 0 ? 0 : weight * image(i, j); };
  return part(r, c, (1 - y) * (1 - x)) + part(r, c1, (1 - y) * x) + part(r1, c, y * (1 - x)) + part(r1, c1, y * x);
}

}  // namespace

LineProfile line_profile(View<const double, 2> image, Place p0, Place p1, double width) {
  const double length = std::hypot(p1.row - p0.row, p1.col - p0.col);
  const auto steps = std::max<Index>(1, static_cast<Index>(std::ceil(length)));
  const auto lanes = std::max<Index>(1, std::lround(width));
  // Along the line, and across it to its right.
  const Place along = length > 0 ? Place{(p1.row - p0.row) / length, (p1.col - p0.col) / length} : Place{0, 1};
  const Place across{along.col, -along.row};

  LineProfile profile;
  profile.step_px = length / static_cast<double>(steps);
  for (Index i = 0; i <= steps; ++i) {
    const double s = profile.step_px * static_cast<double>(i);
    double sum = 0;
    Index counted = 0;
    for (Index lane = 0; lane < lanes; ++lane) {
      const double t = static_cast<double>(lane) - static_cast<double>(lanes - 1) / 2;
      const double value =
          bilinear(image, {p0.row + s * along.row + t * across.row, p0.col + s * along.col + t * across.col});
      if (std::isnan(value)) continue;
      sum += value;
      ++counted;
    }
    profile.values.push_back(counted == 0 ? std::numeric_limits<double>::quiet_NaN()
                                          : sum / static_cast<double>(counted));
  }
  if (const auto width_samples = full_width_at_half_maximum(profile.values))
    profile.fwhm_px = *width_samples * profile.step_px;
  return profile;
}

std::optional<double> full_width_at_half_maximum(const std::vector<double>& values) {
  const auto less = [](double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); };
  const auto more = [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; };
  if (values.empty()) return std::nullopt;
  const auto top = std::max_element(values.begin(), values.end(), more);
  const double base = *std::min_element(values.begin(), values.end(), less);
  if (std::isnan(*top) || !(*top > base)) return std::nullopt;
  const double half = (*top + base) / 2;
  const auto peak = top - values.begin();
  // The distance from the peak to where the values come down to the half; nothing at the end of the line.
  const auto side = [&](std::ptrdiff_t direction) -> std::optional<double> {
    for (std::ptrdiff_t i = peak + direction; i >= 0 && i < std::ssize(values); i += direction) {
      const double outer = values[static_cast<std::size_t>(i)], inner = values[static_cast<std::size_t>(i - direction)];
      if (std::isnan(outer)) return std::nullopt;
      if (outer <= half) return std::abs(static_cast<double>(i - direction - peak)) + (inner - half) / (inner - outer);
    }
    return std::nullopt;
  };
  const auto before = side(-1), after = side(1);
  if (!before || !after) return std::nullopt;
  return *before + *after;
}

}  // namespace sonde::stem
