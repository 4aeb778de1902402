// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/line_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"

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

/// The part of the line from p0 to p1 that lies on the image, half a pixel around it included.
std::optional<std::pair<Place, Place>> clipped(View<const double, 2> image, Place p0, Place p1) {
  const double rows = p1.row - p0.row, cols = p1.col - p0.col;
  double first = 0, last = 1;  // as fractions of the line
  const auto within = [&](double from, double step, Index extent) {
    const double low = -0.5, high = static_cast<double>(extent) - 0.5;
    if (step == 0) return from >= low && from <= high;
    const double a = (low - from) / step, b = (high - from) / step;
    first = std::max(first, std::min(a, b));
    last = std::min(last, std::max(a, b));
    return first <= last;
  };
  if (!within(p0.row, rows, image.extent[0]) || !within(p0.col, cols, image.extent[1])) return std::nullopt;
  const auto at = [&](double part) {
    // Rounding must not carry an end off the image.
    return Place{std::clamp(p0.row + part * rows, -0.5, static_cast<double>(image.extent[0]) - 0.5),
                 std::clamp(p0.col + part * cols, -0.5, static_cast<double>(image.extent[1]) - 0.5)};
  };
  return std::pair{first > 0 ? at(first) : p0, last < 1 ? at(last) : p1};
}

/// As many lines across as can meet the image, and of the same parity, which says where the middle one lies.
Index useful_lanes(View<const double, 2> image, double width) {
  const auto most = 2 * static_cast<Index>(std::ceil(std::hypot(image.extent[0], image.extent[1]))) + 1;
  if (width <= static_cast<double>(most)) return std::max<Index>(1, std::lround(width));
  return std::fmod(std::round(width), 2) == 0 ? most + 1 : most;
}

constexpr Index samples_per_piece = 16;

}  // namespace

LineProfile line_profile(View<const double, 2> image, Place p0, Place p1, double width) {
  const auto on_image = clipped(image, p0, p1);
  if (!on_image)
    throw Error(
        ErrorKind::bad_input,
        fmt::format("the line from ({:.6g}, {:.6g}) to ({:.6g}, {:.6g}) does not cross the {} x {} pixels of the "
                    "image",
                    p0.row, p0.col, p1.row, p1.col, image.extent[0], image.extent[1]))
        .hint("ends are [row, column] in pixels, the first pixel is [0, 0]");
  LineProfile profile;
  std::tie(profile.p0, profile.p1) = *on_image;
  const double rows = profile.p1.row - profile.p0.row, cols = profile.p1.col - profile.p0.col;
  const double length = std::hypot(rows, cols);
  const auto steps = std::max<Index>(1, static_cast<Index>(std::ceil(length)));
  const Index lanes = useful_lanes(image, width);
  // Along the line, and across it to its right.
  const Place along = length > 0 ? Place{rows / length, cols / length} : Place{0, 1};
  const Place across{along.col, -along.row};

  profile.step_px = length / static_cast<double>(steps);
  profile.values.resize(static_cast<std::size_t>(steps + 1));
  parallel_for(steps + 1, samples_per_piece, [&](Index begin, Index end, Worker&) {
    for (Index i = begin; i < end; ++i) {
      const double s = profile.step_px * static_cast<double>(i);
      double sum = 0;
      Index counted = 0;
      for (Index lane = 0; lane < lanes; ++lane) {
        const double t = static_cast<double>(lane) - static_cast<double>(lanes - 1) / 2;
        const double value = bilinear(
            image, {profile.p0.row + s * along.row + t * across.row, profile.p0.col + s * along.col + t * across.col});
        if (std::isnan(value)) continue;
        sum += value;
        ++counted;
      }
      profile.values[static_cast<std::size_t>(i)] =
          counted == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(counted);
    }
  });
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
