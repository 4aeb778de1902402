// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/grid.h"

#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/stencil.h"

namespace sonde::maxwell {
namespace {

constexpr char letter(Axis axis) { return "zyx"[dimension(axis)]; }

void require_axis(const GridSpec& spec, Axis axis, Index half_order) {
  const std::size_t a = dimension(axis);
  if (!(spec.spacing[a] > 0) || !std::isfinite(spec.spacing[a]))
    throw Error(ErrorKind::bad_input,
                fmt::format("spacing along {} = {} m: expected a positive number", letter(axis), spec.spacing[a]));
  if (spec.cells[a] < 1 || spec.pml[a][0] < 0 || spec.pml[a][1] < 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} cells along {}, layers of {} and {}: expected 1 or more, and 0 or more", spec.cells[a],
                            letter(axis), spec.pml[a][0], spec.pml[a][1]));
  if (const Index all = spec.cells[a] + spec.pml[a][0] + spec.pml[a][1]; all < 2 * half_order)
    throw Error(ErrorKind::bad_input, fmt::format("{} cells along {} with its layers: order {} needs at least {}", all,
                                                  letter(axis), spec.order, 2 * half_order));
}

}  // namespace

Grid::Grid(const GridSpec& spec) : spec_(spec) {
  const auto half_order = static_cast<Index>(stencil_weights(spec.order).size());
  for (const Axis axis : all_axes)
    if (has(axis)) require_axis(spec, axis, half_order);
  if (spec.mode == Mode::tm2d) {
    if (spec.cells[dimension(Axis::y)] != 1 || spec.pml[dimension(Axis::y)] != std::array<Index, 2>{})
      throw Error(ErrorKind::bad_input, "a model in two dimensions has one cell and no layer along y");
    spec_.spacing[dimension(Axis::y)] = 1;
  }
  for (const std::size_t a : {0U, 1U, 2U}) extents_[a] = spec_.cells[a] + spec_.pml[a][0] + spec_.pml[a][1];
  for (const Component c : all_components)
    if (has(c)) components_.push_back(c);
}

bool Grid::has(Component c) const { return spec_.mode == Mode::em3d || is_electric(c) == (direction(c) == Axis::y); }

double Grid::cell_volume() const {
  double volume = 1;
  for (const Axis axis : all_axes)
    if (has(axis)) volume *= spacing(axis);
  return volume;
}

bool Grid::on_wall(Component c, const Triple& at) const {
  if (!is_electric(c)) return false;
  for (const Axis axis : all_axes)
    if (has(axis) && !is_half(c, axis) && at[dimension(axis)] == 0) return true;
  return false;
}

}  // namespace sonde::maxwell
