// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::maxwell {
namespace {

template <class... Shapes>
bool is_one_of(const GprmaxObject& object) {
  return (std::holds_alternative<Shapes>(object.shape) || ...);
}

/// Of edges in a plane only.
bool is_thin(const GprmaxObject& object) {
  if (const auto* triangle = std::get_if<GprmaxTriangle>(&object.shape)) return triangle->thickness == 0;
  if (const auto* sector = std::get_if<GprmaxSector>(&object.shape)) return sector->low == sector->high;
  return is_one_of<GprmaxPlate, GprmaxEdge>(object);
}

/// Every position and step in m.
std::vector<Xyz> places_of(const GprmaxInput& input) {
  std::vector<Xyz> made{input.domain};
  for (const GprmaxObject& object : input.objects)
    if (const auto* box = std::get_if<GprmaxBox>(&object.shape)) made.insert(made.end(), {box->low, box->high});
  for (const GprmaxSource& source : input.sources) made.push_back(source.position);
  for (const GprmaxReceiver& receiver : input.receivers) made.push_back(receiver.position);
  for (const GprmaxReceiverArray& array : input.receiver_arrays)
    made.insert(made.end(), {array.first, array.last, array.step});
  for (const GprmaxSnapshot& each : input.snapshots) made.insert(made.end(), {each.first, each.last, each.step});
  for (const GprmaxGeometryView& each : input.geometry_views)
    made.insert(made.end(), {each.first, each.last, each.step});
  for (const XyzIndex& steps : {input.src_steps, input.rx_steps}) {
    Xyz& length = made.emplace_back();
    for (std::size_t u = 0; u < 3; ++u) length[u] = static_cast<double>(steps[u]) * input.spacing[u];
  }
  return made;
}

bool on_planes(const GprmaxInput& input, const Xyz& spacing) {
  const std::vector<Xyz> places = places_of(input);
  return std::all_of(places.begin(), places.end(), [&](const Xyz& place) {
    for (std::size_t u = 0; u < 3; ++u) {
      const double planes = place[u] / spacing[u];
      if (u != input.flat_axis() && !(std::abs(planes - std::round(planes)) < 1e-6)) return false;
    }
    return true;
  });
}

bool is_whole_fraction(double factor) { return factor <= 1 && std::abs(1 / factor - std::round(1 / factor)) < 1e-9; }

using Layers = std::array<std::array<Index, 2>, 3>;

std::optional<Layers> layers_of(const GprmaxInput& input, const XyzIndex& cells, double factor) {
  Layers made = input.pml_cells;
  for (std::size_t u = 0; u < 3; ++u) {
    if (u == input.flat_axis()) continue;
    for (Index& width : made[u])
      width = std::max(width, static_cast<Index>(std::ceil(static_cast<double>(width) / factor - 1e-9)));
    if (made[u][0] + made[u][1] >= cells[u]) return std::nullopt;
  }
  return made;
}

/// Whether a layer of `made` reaches a place of the file that it does not reach there.
bool swallows(const GprmaxInput& made, const GprmaxInput& file, const Xyz& place) {
  const auto in_layer = [&](const GprmaxInput& input, std::size_t u) {
    const Index at = nearest_planes(place, input.spacing)[u];
    return at < input.pml_cells[u][0] || at > input.cells[u] - input.pml_cells[u][1];
  };
  for (std::size_t u = 0; u < 3; ++u)
    if (u != file.flat_axis() && in_layer(made, u) && !in_layer(file, u)) return true;
  return false;
}

bool swallows_any(const GprmaxInput& made, const GprmaxInput& file, Index runs) {
  const auto any = [&](Xyz place, const XyzIndex& steps) {
    if (swallows(made, file, place)) return true;
    for (std::size_t u = 0; u < 3; ++u) place[u] += static_cast<double>((runs - 1) * steps[u]) * file.spacing[u];
    return swallows(made, file, place);
  };
  for (const GprmaxSource& source : file.sources)
    if (any(source.position, file.src_steps)) return true;
  for (const GprmaxReceiver& receiver : file.receivers)
    if (any(receiver.position, file.rx_steps)) return true;
  for (const GprmaxReceiverArray& array : file.receiver_arrays)
    if (any(array.first, file.rx_steps) || any(array.last, file.rx_steps)) return true;
  return false;
}

/// What the file counts in its own steps, in seconds.
void keep_times(GprmaxInput& made, const GprmaxInput& file) {
  const double dt = file.time_step();
  if (file.time_window.steps) made.time_window = {file.window(), std::nullopt};
  for (GprmaxSnapshot& snapshot : made.snapshots)
    if (snapshot.time.steps) snapshot.time = {static_cast<double>(*snapshot.time.steps - 1) * dt, std::nullopt};
  const std::size_t rows = made.excitation.values.empty() ? 0 : made.excitation.values.front().size();
  for (std::size_t n = made.excitation.times.size(); n < rows; ++n)
    made.excitation.times.push_back(static_cast<double>(n) * dt);
}

}  // namespace

std::string why_cells_stay(const GprmaxInput& input) {
  for (const GprmaxSource& source : input.sources)
    if (source.kind == GprmaxSourceKind::voltage_source)
      return source.where + ": a voltage source is as long and as thick as a cell";
  for (const GprmaxObject& object : input.objects) {
    if (is_one_of<GprmaxVoxelBlock>(object)) return "the objects of #geometry_objects_read are cells of that size";
    if (is_thin(object)) return "plates and edges are as thick as a cell";
  }
  return "";
}

std::optional<GprmaxInput> with_cells(const GprmaxInput& input, double factor, Index runs) {
  if (factor == 1) return input;
  if (!why_cells_stay(input).empty()) return std::nullopt;
  GprmaxInput made = input;
  for (std::size_t u = 0; u < 3; ++u)
    if (u != input.flat_axis()) made.spacing[u] *= factor;
  if (!is_whole_fraction(factor)) {
    if (std::any_of(input.objects.begin(), input.objects.end(),
                    is_one_of<GprmaxSphere, GprmaxCylinder, GprmaxTriangle, GprmaxSector>) ||
        !on_planes(input, made.spacing))
      return std::nullopt;
  }
  made.dipole_length = input.dipole_length.value_or(input.spacing);
  made.cells = nearest_planes(input.domain, made.spacing);
  const auto layers = layers_of(input, made.cells, factor);
  if (!layers) return std::nullopt;
  made.pml_cells = *layers;
  for (auto* steps : {&made.src_steps, &made.rx_steps})
    for (std::size_t u = 0; u < 3; ++u)
      if (u != input.flat_axis())
        (*steps)[u] = static_cast<Index>(std::llround(static_cast<double>((*steps)[u]) / factor));
  if (made.flat_axis() != input.flat_axis() || swallows_any(made, input, runs)) return std::nullopt;
  keep_times(made, input);
  return made;
}

GprmaxInput with_time_step(const GprmaxInput& input, double dt) {
  GprmaxInput made = input;
  if (dt == input.time_step()) return made;
  keep_times(made, input);
  made.stability_factor *= dt / input.time_step();
  return made;
}

}  // namespace sonde::maxwell
