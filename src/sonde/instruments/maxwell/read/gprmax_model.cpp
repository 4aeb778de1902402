// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/read/gprmax_geometry.h"

namespace sonde::maxwell {
namespace {

using LayerWidths = std::array<std::array<Index, 2>, 3>;  // [x, y, z of the file][low, high]

LayerWidths layers_of(const GprmaxInput& input) {
  LayerWidths layers = input.pml_cells;
  if (const auto flat = input.flat_axis()) layers[*flat] = {};
  return layers;
}

GridSpec grid_of(const GprmaxInput& input, const GprmaxAxes& axes) {
  const LayerWidths layers = layers_of(input);
  XyzIndex inside{};
  for (std::size_t u = 0; u < 3; ++u) inside[u] = input.cells[u] - layers[u][0] - layers[u][1];
  return {input.flat_axis() ? Mode::tm2d : Mode::em3d, axes.to_arrays(inside), axes.to_arrays(input.spacing),
          axes.to_arrays(layers), 2};
}

/// sigma_max = sigma_factor 0.8 (m + 1) / (eta0 d) where no medium scales it.
PmlSettings pml_of(const GprmaxInput& input, const GprmaxAxes& axes, const GprmaxGeometry& geometry) {
  PmlSettings pml = input.pml;
  pml.scale = PmlSettings::Scale::vacuum;
  const LayerWidths layers = layers_of(input);
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    for (std::size_t u = 0; u < 3; ++u) {
      const Index width = layers[u][side];
      if (width == 0) continue;
      if (input.pml_sigma_max) {
        pml.sigma_factor = *input.pml_sigma_max * eta0 * input.spacing[u] / (0.8 * (pml.grading + 1));
      } else {
        const auto mean = geometry.mean_of_plane(axes.axis(u), side == 0 ? 0 : input.cells[u] - width);
        pml.sigma_factor = 1 / std::sqrt(mean.eps_r * mean.mu_r);
      }
      return pml;
    }
  return pml;
}

void require_cubes_for_sigma(const GprmaxInput& input) {
  if (!input.pml_sigma_max) return;
  const LayerWidths layers = layers_of(input);
  std::optional<double> first;
  for (std::size_t u = 0; u < 3; ++u) {
    if (layers[u][0] + layers[u][1] == 0) continue;
    if (first.value_or(input.spacing[u]) != input.spacing[u])
      throw Error(ErrorKind::not_supported,
                  fmt::format("{}: the largest sigma of #pml_cfs with cells of {} m and {} m is not supported yet",
                              input.name, *first, input.spacing[u]))
          .hint("write None for it, which derives it from the medium");
    first = input.spacing[u];
  }
}

GprmaxSourcePoint point_of(const GprmaxSource& source, const GprmaxInput& input, const GprmaxAxes& axes) {
  const bool magnetic = source.kind == GprmaxSourceKind::magnetic_dipole;
  const Component users = (magnetic ? magnetic_components : electric_components)[source.polarisation];
  const double dl = input.spacing[source.polarisation];
  const double volume = input.spacing[0] * input.spacing[1] * input.spacing[2], area = volume / dl;
  const double window = input.window();
  GprmaxSourcePoint point{.kind = source.kind,
                          .component = axes.component(users),
                          .at = axes.to_arrays(nearest_planes(source.position, input.spacing)),
                          .dl = dl,
                          .resistance = source.resistance,
                          .waveform = source.waveform,
                          .start = source.start,
                          .stop = std::min(source.stop.value_or(window), window),
                          .where = source.where};
  if (magnetic)
    point.scale = 1 / volume;
  else if (source.kind == GprmaxSourceKind::hertzian_dipole)
    point.scale = input.dipole_length ? (*input.dipole_length)[source.polarisation] / volume : 1 / area;
  else
    point.scale = source.resistance > 0 ? 1 / (source.resistance * area) : -1 / dl;
  return point;
}

std::string default_name(const XyzIndex& at) { return fmt::format("Rx({},{},{})", at[0], at[1], at[2]); }

void add_array(const GprmaxReceiverArray& array, const GprmaxInput& input, const GprmaxAxes& axes,
               std::vector<GprmaxReceiverPoint>& made) {
  const XyzIndex first = nearest_planes(array.first, input.spacing), last = nearest_planes(array.last, input.spacing);
  XyzIndex step = nearest_planes(array.step, input.spacing), at{};
  for (Index& cells : step) cells = std::max<Index>(cells, 1);
  for (at[0] = first[0]; at[0] <= last[0]; at[0] += step[0])
    for (at[1] = first[1]; at[1] <= last[1]; at[1] += step[1])
      for (at[2] = first[2]; at[2] <= last[2]; at[2] += step[2])
        made.push_back(
            {default_name(at), axes.to_arrays(at), {all_components.begin(), all_components.end()}, array.where});
}

GprmaxAcquisition acquisition_of(const GprmaxInput& input, const GprmaxAxes& axes) {
  GprmaxAcquisition made;
  for (const GprmaxSource& source : input.sources) made.sources.push_back(point_of(source, input, axes));
  for (const GprmaxReceiver& receiver : input.receivers) {
    const XyzIndex at = nearest_planes(receiver.position, input.spacing);
    made.receivers.push_back({receiver.name.empty() ? default_name(at) : receiver.name, axes.to_arrays(at),
                              receiver.outputs, receiver.where});
  }
  for (const GprmaxReceiverArray& array : input.receiver_arrays) add_array(array, input, axes, made.receivers);
  return made;
}

/// Edges that are resistors: sigma = dl / (R A) beside what is there.
void add_resistances(GprmaxModel& model, const Grid& grid) {
  for (const GprmaxSourcePoint& source : model.acquisition.sources)
    if (source.kind == GprmaxSourceKind::voltage_source && source.resistance > 0)
      model.medium.sigma[place(source.component)]
                        [static_cast<std::size_t>(grid.index(source.at[0], source.at[1], source.at[2]))] +=
          source.dl * source.scale;
}

bool in_layer(const Triple& at, const Grid& grid) {
  return std::any_of(all_axes.begin(), all_axes.end(), [&](Axis axis) {
    const Index i = at[dimension(axis)];
    return i < grid.low(axis) || i > grid.extent(axis) - grid.high(axis);
  });
}

/// The flat axis becomes number 1, y.
GprmaxAxes axes_of(const GprmaxInput& input) {
  const auto flat = input.flat_axis();
  return {flat ? (4 - *flat) % 3 : 0};
}

std::vector<std::string> warnings_of(const GprmaxInput& input, const GprmaxModel& model, const Grid& grid) {
  std::vector<std::string> warnings;
  for (const GprmaxSourcePoint& source : model.acquisition.sources)
    if (in_layer(source.at, grid)) warnings.push_back(source.where + ": the source is inside the absorbing layer");
  std::string last;
  for (const GprmaxReceiverPoint& receiver : model.acquisition.receivers)
    if (in_layer(receiver.at, grid) && std::exchange(last, receiver.where) != receiver.where)
      warnings.push_back(receiver.where + ": the receiver is inside the absorbing layer");
  for (const GprmaxMaterial& material : input.materials)
    for (const GprmaxMaterial::Pole& pole : material.poles)
      if (model.dt > 2 * pole.tau)
        warnings.push_back(
            fmt::format("material \"{}\": the relaxation time {:.3g} s is less than half a time step of "
                        "{:.3g} s; such a pole is better added to eps_r",
                        material.id, pole.tau, model.dt));
  return warnings;
}

}  // namespace

std::optional<Component> GprmaxModel::component(Component users) const {
  const Component ours = axes.component(users);
  const bool present = grid.mode == Mode::em3d || is_electric(ours) == (direction(ours) == Axis::y);
  return present ? std::optional(ours) : std::nullopt;
}

GprmaxModel make_gprmax_model(const GprmaxInput& input) {
  require_cubes_for_sigma(input);
  GprmaxModel model;
  model.title = input.title;
  model.cells = input.cells;
  model.spacing = input.spacing;
  model.axes = axes_of(input);
  model.grid = grid_of(input, model.axes);
  model.dt = input.time_step();
  model.iterations = input.iterations();
  model.acquisition = acquisition_of(input, model.axes);
  model.src_steps = input.src_steps;
  model.rx_steps = input.rx_steps;
  for (const GprmaxSnapshot& snapshot : input.snapshots)
    model.snapshots.push_back({model.axes.to_arrays(nearest_planes(snapshot.first, input.spacing)),
                               model.axes.to_arrays(nearest_planes(snapshot.last, input.spacing)),
                               model.axes.to_arrays(nearest_planes(snapshot.step, input.spacing)),
                               input.snapshot_step(snapshot), snapshot.file});
  const Grid grid(model.grid);
  const GprmaxGeometry geometry(input, model.axes, grid);
  model.medium = geometry.medium();
  model.pml = pml_of(input, model.axes, geometry);
  add_resistances(model, grid);
  model.warnings = warnings_of(input, model, grid);
  return model;
}

std::vector<std::uint32_t> gprmax_cell_materials(const GprmaxInput& input) {
  const GprmaxAxes axes = axes_of(input);
  const Grid grid(grid_of(input, axes));
  const GprmaxGeometry geometry(input, axes, grid);
  const std::size_t along_x = place(axes.component(Component::Ex));
  const XyzIndex& n = input.cells;
  std::vector<std::uint32_t> made(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  std::size_t cell = 0;
  XyzIndex at{};
  for (at[2] = 0; at[2] < n[2]; ++at[2])
    for (at[1] = 0; at[1] < n[1]; ++at[1])
      for (at[0] = 0; at[0] < n[0]; ++at[0])
        made[cell++] =
            static_cast<std::uint32_t>(&geometry.material(axes.to_arrays(at), along_x) - input.materials.data());
  return made;
}

GridSpec gprmax_grid(const GprmaxInput& input) { return grid_of(input, axes_of(input)); }

std::size_t gprmax_model_bytes(const GprmaxInput& input) {
  const bool flat = input.flat_axis().has_value();
  const std::size_t electric = flat ? 1 : 3, magnetic = flat ? 2 : 3;
  std::size_t cells = 1;
  for (const Index extent : input.cells) cells *= static_cast<std::size_t>(extent);
  std::size_t voxels = 0;
  for (const GprmaxObject& object : input.objects)
    if (const auto* block = std::get_if<GprmaxVoxelBlock>(&object.shape))
      voxels += sizeof(std::int16_t) * (block->voxels->cells.size() + block->voxels->nodes.size());
  return voxels + cells * (sizeof(double) * (electric * (2 + 2 * most_poles(input)) + magnetic) + sizeof(ObjectNumber));
}

GprmaxAcquisition acquisition_of_run(const GprmaxModel& model, Index run) {
  GprmaxAcquisition made = model.acquisition;
  const auto move = [&](auto& point, const XyzIndex& steps, const char* what) {
    XyzIndex at = model.axes.to_file(point.at);
    for (std::size_t u = 0; u < 3; ++u) {
      at[u] += run * steps[u];
      if (at[u] < 0 || at[u] >= model.cells[u])
        throw Error(ErrorKind::bad_input,
                    fmt::format("{}: in run {} the {} is at {} = {:.6g} m; expected 0 to {:.6g} m", point.where,
                                run + 1, what, xyz_letters[u], static_cast<double>(at[u]) * model.spacing[u],
                                static_cast<double>(model.cells[u] - 1) * model.spacing[u]));
    }
    point.at = model.axes.to_arrays(at);
  };
  for (GprmaxSourcePoint& source : made.sources)
    if (source.kind != GprmaxSourceKind::voltage_source) move(source, model.src_steps, "source");
  for (GprmaxReceiverPoint& receiver : made.receivers) move(receiver, model.rx_steps, "receiver");
  return made;
}

}  // namespace sonde::maxwell
