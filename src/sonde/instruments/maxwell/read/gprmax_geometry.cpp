// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_geometry.h"

#include <algorithm>
#include <map>
#include <string>

#include "sonde/engine/device/parallel.h"

namespace sonde::maxwell {
namespace {

using MaterialsById = std::map<std::string, const GprmaxMaterial*>;

MaterialsById materials_by_id(const GprmaxInput& input) {
  MaterialsById by_id;
  for (const GprmaxMaterial& material : input.materials) by_id[material.id] = &material;
  return by_id;
}

/// Of E along x, y, z of the file.
std::array<const GprmaxMaterial*, 3> materials_of(const GprmaxObject& object, const MaterialsById& by_id,
                                                  const Xyz& spacing) {
  std::array<const GprmaxMaterial*, 3> made{};
  made.fill(by_id.at(object.materials[0]));
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

/// Those elements of a part that are in plane k.
template <class Body>
void for_each_of_part(const GprmaxPart& part, Index k, const Body& body) {
  for_each_in_plane(part.first, part.last, k, [&](const Triple& at) {
    if (!part.contains || part.contains(at)) body(at);
  });
}

std::size_t place_of(const Grid& grid, const Triple& at) {
  return static_cast<std::size_t>(grid.index(at[0], at[1], at[2]));
}

}  // namespace

GprmaxGeometry::GprmaxGeometry(const GprmaxInput& input, const GprmaxAxes& axes, const Grid& grid)
    : grid_(&grid), parts_(parts_of(input, axes, grid)), poles_(most_poles(input)) {
  const MaterialsById by_id = materials_by_id(input);
  Paint& before = paints_.emplace_back();
  before.materials.fill(by_id.at("free_space"));
  for (const GprmaxObject& object : input.objects) {
    Paint& paint = paints_.emplace_back();
    const auto of_file = materials_of(object, by_id, input.spacing);
    for (std::size_t u = 0; u < 3; ++u) paint.materials[place(axes.component(electric_components[u]))] = of_file[u];
    paint.averaged = object.averaged && of_file[0]->averaged();
  }
  fill_cells();
}

void GprmaxGeometry::fill_cells() {
  cells_.resize(static_cast<std::size_t>(grid_->count()));
  parallel_for(grid_->extent(Axis::z), 1, [&](Index first, Index last, Worker&) {
    for (Index k = first; k < last; ++k)
      for (const GprmaxPart& part : parts_.cells)
        for_each_of_part(part, k, [&](const Triple& at) { cells_[place_of(*grid_, at)] = part.number; });
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
        for_each_of_part(part, k, [&, c = c, number = part.number](const Triple& at) {
          const std::array<ObjectNumber, 4> cells = around(c, at);
          // All cells replaced since, or one by an object that sets the edge itself.
          if (number < *std::min_element(cells.begin(), cells.end()) || number < last_rigid(cells)) return;
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

ObjectNumber GprmaxGeometry::last_rigid(const std::array<ObjectNumber, 4>& cells) const {
  ObjectNumber last = 0;
  for (const ObjectNumber number : cells)
    if (!paints_[number].averaged) last = std::max(last, number);
  return last;
}

void GprmaxGeometry::fill_node(Component c, const Triple& at, ComponentMedium& made) const {
  const std::array<ObjectNumber, 4> cells = around(c, at);
  const std::size_t node = place_of(*grid_, at);
  const ObjectNumber rigid = last_rigid(cells);
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
