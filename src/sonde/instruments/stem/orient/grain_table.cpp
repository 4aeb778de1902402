// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/grain_table.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "sonde/instruments/stem/orient/euler_angles.h"

namespace sonde::stem {
namespace {

constexpr double per_radian = 180 / std::numbers::pi;

Value rounded_list(std::initializer_list<double> values) {
  Value list = Value::list();
  for (const double value : values) list.push_back(std::round(1e4 * value) / 1e4);
  return list;
}

}  // namespace

Value grain_table(const GrainMap& map, const std::vector<ZoneSector>& sectors, const ScanSteps& steps) {
  Value table = Value::list();
  for (const Grain& grain : map.grains) {
    Value row;
    row["grain"] = static_cast<Index>(table.size()) + 1;
    if (sectors.size() > 1) row["phase"] = grain.crystal;
    row["positions"] = grain.positions;
    if (steps.known()) row["area_nm2"] = static_cast<double>(grain.positions) * steps.row * steps.col;
    row["row"] = grain.row;
    row["column"] = grain.col;
    const Vec3 beam = sectors[grain.crystal].reduced(transposed(grain.mean)[2]);
    row["zone"] = rounded_list({beam[0], beam[1], beam[2]});
    const EulerAngles euler = euler_angles(grain.mean);
    row["euler_degrees"] =
        rounded_list({euler.phi1 * per_radian, euler.capital_phi * per_radian, euler.phi2 * per_radian});
    row["spread_degrees"] = grain.spread * per_radian;
    if (std::isfinite(grain.standard_error)) row["standard_error_degrees"] = grain.standard_error * per_radian;
    table.push_back(std::move(row));
  }
  return table;
}

void add_grains(Contents& contents, const GrainMap& map, const std::vector<ZoneSector>& sectors,
                const ScanSteps& steps) {
  const auto count = static_cast<Index>(map.grains.size());
  if (count == 0) return;
  std::vector<float> matrix, zone, place, area, spread, error;
  std::vector<std::int32_t> positions, phase;
  for (const Grain& grain : map.grains) {
    phase.push_back(static_cast<std::int32_t>(grain.crystal));
    for (const Vec3& row : grain.mean)
      for (const double part : row) matrix.push_back(static_cast<float>(part));
    for (const double part : sectors[grain.crystal].reduced(transposed(grain.mean)[2]))
      zone.push_back(static_cast<float>(part));
    place.push_back(static_cast<float>(grain.row));
    place.push_back(static_cast<float>(grain.col));
    positions.push_back(static_cast<std::int32_t>(grain.positions));
    area.push_back(static_cast<float>(static_cast<double>(grain.positions) * steps.row * steps.col));
    spread.push_back(static_cast<float>(grain.spread * per_radian));
    error.push_back(static_cast<float>(grain.standard_error * per_radian));
  }
  contents.add("grains/matrix", {"grain", "crystal axis", "detector axis"}, Array::from(matrix, {count, 3, 3}));
  if (sectors.size() > 1) contents.add("grains/phase", {"grain"}, Array::from(phase, {count}));
  contents.add("grains/zone", {"grain", "crystal axis"}, Array::from(zone, {count, 3}));
  contents.add("grains/positions", {"grain"}, Array::from(positions, {count}));
  if (steps.known()) contents.add("grains/area", {"grain"}, Array::from(area, {count})).unit("nm^2");
  contents.add("grains/place", {"grain", "scan axis"}, Array::from(place, {count, 2}));
  contents.add("grains/spread", {"grain"}, Array::from(spread, {count})).unit("degrees");
  contents.add("grains/standard_error", {"grain"}, Array::from(error, {count})).unit("degrees");
}

Array draw_grains(const GrainMap& map, Index rows, Index cols, const std::vector<ZoneSector>& sectors, Index zoom) {
  std::vector<Colour> colours = {not_finite};
  for (const Grain& grain : map.grains) colours.push_back(sectors[grain.crystal].colour(transposed(grain.mean)[2]));
  const auto grain_at = [&](Index row, Index col) { return map.grain[static_cast<std::size_t>(row * cols + col)]; };
  Array picture(Device::cpu(), Shape{rows * zoom, cols * zoom, 3}, DType::u8);
  const auto view = picture.view<std::uint8_t, 3>();
  for (Index y = 0; y < rows * zoom; ++y)
    for (Index x = 0; x < cols * zoom; ++x) {
      const Index row = y / zoom, col = x / zoom;
      const std::int32_t here = grain_at(row, col);
      const bool edge = zoom >= 3 && ((x % zoom == 0 && col > 0 && grain_at(row, col - 1) != here) ||
                                      (y % zoom == 0 && row > 0 && grain_at(row - 1, col) != here));
      const Colour colour = edge ? Colour{} : colours[static_cast<std::size_t>(here)];
      view(y, x, 0) = colour.red;
      view(y, x, 1) = colour.green;
      view(y, x, 2) = colour.blue;
    }
  return picture;
}

}  // namespace sonde::stem
