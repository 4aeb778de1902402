// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/phase_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/figure/colour.h"
#include "sonde/engine/figure/image.h"

namespace sonde::stem {
namespace {

constexpr Index panel_side = 480;  // of the longer side of a panel, px
constexpr double bright_percentile = 99;

Array image_of(const VectorField& field, const std::vector<double>& values) {
  return Array::from(values, Shape{field.rows, field.cols});
}

/// The lettering has no caret.
std::string shown_unit(std::string unit) {
  std::erase(unit, '^');
  return unit;
}

/// The colour of a direction from +x towards +y, of brightness 0 to 1.
Colour colour_of_vector(double x, double y, double brightness) {
  if (!std::isfinite(x) || !std::isfinite(y)) return not_finite;
  const double turn = (std::atan2(y, x) + std::numbers::pi) / (2 * std::numbers::pi);
  const Colour full = colour_table(ColourMap::phase)[static_cast<std::size_t>(std::lround(255 * turn))];
  const auto dimmed = [&](std::uint8_t part) {
    return static_cast<std::uint8_t>(std::lround(std::clamp(brightness, 0.0, 1.0) * part));
  };
  return {dimmed(full.red), dimmed(full.green), dimmed(full.blue)};
}

void paint(const View<std::uint8_t, 3>& picture, Index row, Index col, Colour colour) {
  picture(row, col, 0) = colour.red;
  picture(row, col, 1) = colour.green;
  picture(row, col, 2) = colour.blue;
}

/// Every position zoom x zoom pixels, and the wheel to the right of them, with the longest vectors at its rim.
Array wheel_picture(const VectorField& field, Index zoom) {
  std::vector<double> lengths;
  for (std::size_t i = 0; i < field.x.size(); ++i) lengths.push_back(std::hypot(field.x[i], field.y[i]));
  const double longest = percentile_range(image_of(field, lengths), 0, bright_percentile).high;
  const Index radius = std::max<Index>(12, panel_side / 10), width = field.cols * zoom,
              height = std::max(field.rows * zoom, 2 * radius + 1);
  Array picture(Device::cpu(), Shape{height, width + 2 * radius + 9, 3}, DType::u8);
  const auto view = picture.view<std::uint8_t, 3>();
  std::fill_n(view.data, picture.count(), std::uint8_t{255});
  for (Index row = 0; row < field.rows * zoom; ++row)
    for (Index col = 0; col < width; ++col) {
      const auto here = static_cast<std::size_t>(row / zoom * field.cols + col / zoom);
      paint(view, row, col, colour_of_vector(field.x[here], field.y[here], longest > 0 ? lengths[here] / longest : 0));
    }
  for (Index row = -radius; row <= radius; ++row)
    for (Index col = -radius; col <= radius; ++col) {
      const double x = static_cast<double>(col), y = static_cast<double>(row),
                   length = std::hypot(x, y) / static_cast<double>(radius);
      if (length <= 1) paint(view, radius + row, width + 8 + radius + col, colour_of_vector(x, y, length));
    }
  return picture;
}

}  // namespace

Array phase_picture(const PhaseResult& result) {
  const VectorField& field = result.field;
  const Index zoom = std::max<Index>(1, panel_side / std::max(field.rows, field.cols));
  ImageStyle style{.zoom = zoom, .colour_bar = true, .value_unit = result.scale.phase_unit()};
  if (!result.scale.in_steps()) {
    style.pixel_size = result.scale.step_col / 10;
    style.unit = "nm";
  }
  std::vector<Panel> panels;
  if (result.phase.empty()) {
    style.value_unit = "counts";
    panels.push_back({"counts of each pattern", render_image(image_of(field, result.centres.counts), style)});
  } else {
    panels.push_back({"phase", render_image(image_of(field, result.phase), style)});
  }
  panels.push_back({fmt::format("deflection ({})", result.scale.field_unit()), wheel_picture(field, zoom)});
  // One range for both: that of the larger one.
  double reach = 0;
  for (const std::vector<double>* map : {&result.derivatives.curl, &result.derivatives.divergence}) {
    const ValueRange range = percentile_range(image_of(field, *map), 0.5, 99.5);
    reach = std::max({reach, std::abs(range.low), std::abs(range.high)});
  }
  style.colours = ColourMap::rdbu;
  style.value_unit = shown_unit(result.scale.derivative_unit());
  style.low = -reach;
  style.high = reach;
  panels.push_back({"curl", render_image(image_of(field, result.derivatives.curl), style)});
  panels.push_back({"divergence", render_image(image_of(field, result.derivatives.divergence), style)});
  return montage(panels, 2);
}

}  // namespace sonde::stem
