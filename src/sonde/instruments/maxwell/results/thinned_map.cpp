// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/thinned_map.h"

#include <utility>

namespace sonde::maxwell {
namespace {

constexpr std::size_t most_samples = 400;  // along an axis

std::vector<double> every(const std::vector<double>& values, std::size_t step) {
  std::vector<double> made;
  for (std::size_t i = 0; i < values.size(); i += step) made.push_back(values[i]);
  return made;
}

std::size_t step_for(std::size_t count) { return (count + most_samples - 1) / most_samples; }

std::pair<double, double> ends_of(const std::vector<double>& positions) {
  const double half = (positions[1] - positions[0]) / 2;
  return {positions.front() - half, positions.back() + half};
}

}  // namespace

HeightMap thinned_map(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& values) {
  const std::size_t along = step_for(x.size()), up = step_for(y.size());
  HeightMap map;
  map.x = every(x, along);
  map.y = every(y, up);
  for (std::size_t j = 0; j < y.size(); j += up)
    for (std::size_t i = 0; i < x.size(); i += along) map.z.push_back(values[j * x.size() + i]);
  return map;
}

std::vector<double> middle_section(const GridSpec& grid, const std::vector<double>& values) {
  const Triple& cells = grid.cells;
  std::vector<double> made;
  for (Index z = 0; z < cells[0]; ++z)
    for (Index x = 0; x < cells[2]; ++x)
      made.push_back(values[static_cast<std::size_t>((z * cells[1] + cells[1] / 2) * cells[2] + x)]);
  return made;
}

void set_axes(Facet& facet, HeightMap map, const std::array<std::string, 2>& names, bool downwards) {
  const auto [left, right] = ends_of(map.x);
  auto [low, high] = ends_of(map.y);
  if (downwards) std::swap(low, high);
  facet.x = {.title = names[0], .unit = "m", .low = left, .high = right};
  facet.y = {.title = names[1], .unit = "m", .low = low, .high = high};
  facet.map = std::move(map);
}

}  // namespace sonde::maxwell
