// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_geometry.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sonde/engine/device/parallel.h"

namespace sonde::maxwell {
namespace {

using MaterialsById = std::map<std::string, const GprmaxMaterial*>;

MaterialsById materials_by_id(const GprmaxInput& input) {
  MaterialsById by_id;
  for (const GprmaxMaterial& material : input.materials) by_id[material.id] = &material;
  return by_id;
}

/// Of E along x, y, z of the file; `number` counts those of voxels.
std::array<const GprmaxMaterial*, 3> materials_of(const GprmaxObject& object, ObjectNumber number,
                                                  const MaterialsById& by_id, const Xyz& spacing) {
  std::array<const GprmaxMaterial*, 3> made{};
  made.fill(by_id.at(object.materials[number]));
  if (std::holds_alternative<GprmaxVoxelBlock>(object.shape)) return made;
  if (object.materials.size() == 3)
    for (std::size_t u = 0; u < 3; ++u) made[u] = by_id.at(object.materials[u]);
  if (object.materials.size() == 2)
    made[axes_of_plane(normal_of(std::get<GprmaxPlate>(object.shape), spacing))[1]] = by_id.at(object.materials[1]);
  return made;
}

template <class Body>
void for_each_in_plane(const Triple& first, const Triple& last, Index k, const Body& body) {
  if (k < first[0] || k >= last[0]) return;
  Triple at{k, 0, 0};
  for (at[1] = first[1]; at[1] < last[1]; ++at[1])
    for (at[2] = first[2]; at[2] < last[2]; ++at[2]) body(at);
}

/// Those elements of a part that are in plane k, with their numbers.
template <class Body>
void for_each_of_part(const GprmaxPart& part, Index k, const Body& body) {
  for_each_in_plane(part.first, part.last, k, [&](const Triple& at) {
    if (part.contains && !part.contains(at)) return;
    const Index further = part.further ? part.further(at) : 0;
    if (further >= 0) body(at, part.number + static_cast<ObjectNumber>(further));
  });
}

std::size_t place_of(const Grid& grid, const Triple& at) {
  return static_cast<std::size_t>(grid.index(at[0], at[1], at[2]));
}

}  // namespace

GprmaxGeometry::GprmaxGeometry(const GprmaxInput& input, const GprmaxAxes& axes, const Grid& grid)
    : grid_(&grid), axes_(axes), parts_(parts_of(input, axes, grid)), poles_(most_poles(input)) {
  const MaterialsById by_id = materials_by_id(input);
  Paint& before = paints_.emplace_back();
  before.materials.fill(by_id.at("free_space"));
  ObjectNumber rank = 0;
  for (const GprmaxObject& object : input.objects) {
    ++rank;
    for (ObjectNumber number = 0; number < numbers_of(object); ++number) {
      Paint& paint = paints_.emplace_back();
      const auto of_file = materials_of(object, number, by_id, input.spacing);
      for (std::size_t u = 0; u < 3; ++u) paint.materials[place(axes.component(electric_components[u]))] = of_file[u];
      paint.averaged = object.averaged && of_file[0]->averaged();
      paint.rank = rank;
    }
  }
  fill_cells();
}

void GprmaxGeometry::fill_cells() {
  cells_.resize(static_cast<std::size_t>(grid_->count()));
  parallel_for(grid_->extent(Axis::z), 1, [&](Index first, Index last, Worker&) {
    for (Index k = first; k < last; ++k)
      for (const GprmaxPart& part : parts_.cells)
        for_each_of_part(part, k,
                         [&](const Triple& at, ObjectNumber number) { cells_[place_of(*grid_, at)] = number; });
  });
}

ComponentMedium GprmaxGeometry::medium() const {
  ComponentMedium made;
  made.poles.resize(poles_);
  const auto count = static_cast<std::size_t>(grid_->count());
  for (const Component c : grid_->components()) {
    if (!is_electric(c)) {
      made.mu_r[place(c)].resize(count);
      continue;
    }
    made.eps_r[place(c)].resize(count);
    made.sigma[place(c)].resize(count);
    for (DebyePole& pole : made.poles) {
      pole.deps[place(c)].resize(count);
      pole.tau[place(c)].resize(count);
    }
  }
  parallel_for(grid_->extent(Axis::z), 1, [&](Index first, Index last, Worker&) {
    for (Index k = first; k < last; ++k) {
      for (const Component c : grid_->components())
        for_each_in_plane({}, grid_->extents(), k, [&](const Triple& at) { fill_node(c, at, made); });
      for (const auto& [c, part] : parts_.nodes)
        for_each_of_part(part, k, [&, c = c](const Triple& at, ObjectNumber number) {
          const std::array<ObjectNumber, 4> cells = around(c, at);
          const ObjectNumber rank = paints_[number].rank;
          const auto later = [&](ObjectNumber cell) { return paints_[cell].rank > rank; };
          // All cells replaced since, or one by an object that sets the node itself.
          if (std::ranges::all_of(cells, later) || later(last_rigid(c, cells))) return;
          set(c, place_of(*grid_, at), number, made);
        });
    }
  });
  return made;
}

std::array<ObjectNumber, 4> GprmaxGeometry::around(Component c, const Triple& at) const {
  std::array<std::size_t, 2> back{};  // steps to the cells on the other sides
  std::size_t sides = 0;
  for (const Axis axis : all_axes) {
    if (is_half(c, axis)) continue;
    Triple one{};
    one[dimension(axis)] = at[dimension(axis)] > 0 ? 1 : 0;
    back[sides++] = place_of(*grid_, one);
  }
  const std::size_t here = place_of(*grid_, at);
  return {cells_[here], cells_[here - back[0]], cells_[here - back[1]], cells_[here - back[0] - back[1]]};
}

ObjectNumber GprmaxGeometry::last_rigid(Component c, const std::array<ObjectNumber, 4>& cells) const {
  // around() goes back along the slower axis of the arrays first, which need not be the one that is faster in the file.
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  std::array<std::size_t, 2> sides{};
  std::size_t count = 0;
  for (std::size_t u = 0; u < 3; ++u)
    if (!is_half(c, axes_.axis(u))) sides[count++] = dimension(axes_.axis(u));
  if (count == 2 && sides[0] < sides[1]) std::swap(order[1], order[2]);
  ObjectNumber last = 0;
  for (const std::size_t i : order)
    if (const Paint& paint = paints_[cells[i]]; !paint.averaged && paint.rank > paints_[last].rank) last = cells[i];
  return last;
}

void GprmaxGeometry::fill_node(Component c, const Triple& at, ComponentMedium& made) const {
  const std::array<ObjectNumber, 4> cells = around(c, at);
  const std::size_t node = place_of(*grid_, at);
  const ObjectNumber rigid = last_rigid(c, cells);
  if (rigid > 0)
    set(c, node, rigid, made);
  else if (std::all_of(cells.begin(), cells.end(), [&](ObjectNumber number) { return number == cells[0]; }))
    set(c, node, cells[0], made);
  else
    set_mean(c, node, cells, made);
}

void GprmaxGeometry::set(Component c, std::size_t node, ObjectNumber number, ComponentMedium& made) const {
  const std::size_t e = place(c);
  const GprmaxMaterial& material = *paints_[number].materials[e];
  if (!is_electric(c)) {
    made.mu_r[e][node] = material.mu_r;
    return;
  }
  made.eps_r[e][node] = material.eps_r;
  made.sigma[e][node] = material.sigma;
  for (std::size_t p = 0; p < made.poles.size(); ++p) {
    const GprmaxMaterial::Pole pole = p < material.poles.size() ? material.poles[p] : GprmaxMaterial::Pole{};
    made.poles[p].deps[e][node] = pole.deps;
    made.poles[p].tau[e][node] = pole.tau;
  }
}

void GprmaxGeometry::set_mean(Component c, std::size_t node, const std::array<ObjectNumber, 4>& cells,
                              ComponentMedium& made) const {
  const std::size_t e = place(c);
  GprmaxMaterial sum{.id = {}, .eps_r = 0, .sigma = 0, .mu_r = 0};
  for (const ObjectNumber number : cells) {
    const GprmaxMaterial& material = *paints_[number].materials[e];
    sum.eps_r += material.eps_r;
    sum.sigma += material.sigma;
    sum.mu_r += material.mu_r;
  }
  if (!is_electric(c)) {
    made.mu_r[e][node] = sum.mu_r / 4;
    return;
  }
  made.eps_r[e][node] = sum.eps_r / 4;
  made.sigma[e][node] = sum.sigma / 4;
}

const GprmaxMaterial& GprmaxGeometry::material(const Triple& cell, std::size_t along) const {
  return *paints_[cells_[place_of(*grid_, cell)]].materials[along];
}

GprmaxGeometry::Mean GprmaxGeometry::mean_of_plane(Axis axis, Index plane) const {
  Triple first{}, last = grid_->extents();
  first[dimension(axis)] = plane;
  last[dimension(axis)] = plane + 1;
  Mean mean;
  double count = 0;
  for (Index k = first[0]; k < last[0]; ++k)
    for_each_in_plane(first, last, k, [&](const Triple& at) {
      for (const GprmaxMaterial* material : paints_[cells_[place_of(*grid_, at)]].materials) {
        mean.eps_r += material->eps_r;
        mean.mu_r += material->mu_r;
        ++count;
      }
    });
  return {mean.eps_r / count, mean.mu_r / count};
}

std::size_t most_poles(const GprmaxInput& input) {
  const MaterialsById by_id = materials_by_id(input);
  std::size_t most = 0;
  for (const GprmaxObject& object : input.objects)
    for (const std::string& id : object.materials) most = std::max(most, by_id.at(id)->poles.size());
  return most;
}

}  // namespace sonde::maxwell
