// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/strain_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sonde/engine/figure/image.h"

namespace sonde::stem {
namespace {

constexpr Index map_side = 480;  // of the longer side of a map, px
constexpr Index arrow = 60, margin = 12, head = 8;

/// Two arrows from one point: +x to the right and +y downwards, as rows and columns are drawn.
Array axes_picture() {
  const Index side = arrow + 2 * margin;
  Array picture(Device::cpu(), Shape{side, side, 3}, DType::u8);
  const auto view = picture.view<std::uint8_t, 3>();
  std::fill_n(view.data, picture.count(), std::uint8_t{255});
  const auto ink = [&](Index row, Index col) {
    for (Index part = 0; part < 3; ++part) view(row, col, part) = 0;
  };
  const auto both = [&](Index along, Index across) {
    ink(margin + across, margin + along);
    ink(margin + along, margin + across);
  };
  for (Index i = 0; i <= arrow; ++i)
    for (Index thick = 0; thick < 2; ++thick) both(i, thick);
  for (Index i = 0; i < head; ++i)
    for (Index j = -i; j <= i; ++j) both(arrow - i, j / 2);
  return picture;
}

}  // namespace

Array strain_picture(const StrainResult& result) {
  const Shape shape{result.scan_rows, result.scan_cols};
  const std::pair<const char*, double Strain::*> parts[] = {
      {"e_xx", &Strain::xx}, {"e_yy", &Strain::yy}, {"e_xy", &Strain::xy}, {"theta", &Strain::theta}};
  std::vector<Array> maps;
  double reach = 0;
  for (const auto& [name, part] : parts) {
    std::vector<double> values;
    for (const Strain& strain : result.strain) values.push_back(100 * strain.*part);
    maps.push_back(Array::from(values, shape));
    const ValueRange range = percentile_range(maps.back(), 0.5, 99.5);
    reach = std::max({reach, std::abs(range.low), std::abs(range.high)});
  }
  ImageStyle style{.colours = ColourMap::rdbu,
                   .low = -reach,
                   .high = reach,
                   .zoom = std::max<Index>(1, map_side / std::max(result.scan_rows, result.scan_cols)),
                   .colour_bar = true};
  if (result.scan_step_nm) {
    style.pixel_size = *result.scan_step_nm;
    style.unit = "nm";
  }
  const Strain sigma = result.median_sigma();
  std::vector<Panel> panels;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto& [name, part] = parts[i];
    style.value_unit = i < 3 ? "%" : "rad/100";
    panels.push_back({fmt::format("{} ({}), sigma {:.2g}", name, style.value_unit, 100 * sigma.*part),
                      render_image(maps[i], style)});
  }
  panels.push_back(
      {result.frame.scan ? "x and y of these maps" : "x and y of a pattern, not of these maps", axes_picture()});
  return montage(panels, 2, fmt::format("strain along the axes of the {}", result.frame.name()));
}

}  // namespace sonde::stem
