// SPDX-License-Identifier: Apache-2.0
// Private to the room: sections of a model or a field as pictures.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/maxwell/grid/grid.h"

namespace sonde::maxwell {

/// Values [y][x] at even positions in m as a map, every so many of them where there are more than can be seen: the
/// script of a chart holds each as text.
[[nodiscard]] HeightMap thinned_map(const std::vector<double>& x, const std::vector<double>& y,
                                    const std::vector<double>& values);

/// [z][x] of a model on its own cells: of one in three dimensions the middle section along the line.
[[nodiscard]] std::vector<double> middle_section(const GridSpec& grid, const std::vector<double>& values);

/// Puts the map into the facet, with axes in m that end where its outermost cells do.
void set_axes(Facet& facet, HeightMap map, const std::array<std::string, 2>& names, bool downwards);

}  // namespace sonde::maxwell
