// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/sampled_fields.h"

#include <algorithm>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/propagate/grid_part.h"

namespace sonde::maxwell {
namespace {

/// What is averaged: the nodes at these distances, in cells.
std::vector<XyzIndex> corners_of(const Sampling& sampling, Component c) {
  std::vector<XyzIndex> made{{0, 0, 0}};
  for (std::size_t u = 0; u < 3; ++u) {
    if (!sampling.centred || is_half(c, sampling.axes.axis(u))) continue;
    for (std::size_t i = 0, count = made.size(); i < count; ++i) {
      XyzIndex far = made[i];
      far[u] += sampling.step[u];
      made.push_back(far);
    }
  }
  return made;
}

/// The nodes that a run has of its grid, in the axes of the file: all of them, or those of a part.
struct Nodes {
  XyzIndex origin{};         ///< of the arrays
  XyzIndex first{}, last{};  ///< own nodes on them
  XyzIndex stride{};

  /// On the arrays, where the node `at` of the grid is an own one along this axis.
  [[nodiscard]] bool has(std::size_t u, Index at) const {
    return at - origin[u] >= first[u] && at - origin[u] < last[u];
  }
};

template <class T>
Nodes nodes_of(const LiveFields& fields, const GprmaxAxes& axes, const View<const T, 3>& field) {
  const GridPart* const part = fields.part();
  Nodes made;
  for (std::size_t u = 0; u < 3; ++u) {
    const std::size_t a = dimension(axes.axis(u));
    made.stride[u] = field.stride[a];
    made.first[u] = part != nullptr ? part->own().first[a] : 0;
    made.last[u] = part != nullptr ? part->own().last[a] : field.extent[a];
    made.origin[u] = part != nullptr ? part->array().first[a] : 0;
  }
  return made;
}

/// Adds the samples of one row that are there; on and behind a wall they are zero.
template <class T>
void add_row(const View<const T, 3>& field, const Nodes& nodes, const Sampling& sampling, const XyzIndex& from,
             double* to) {
  if (!nodes.has(1, from[1]) || !nodes.has(2, from[2])) return;
  const T* row =
      field.data + (from[1] - nodes.origin[1]) * nodes.stride[1] + (from[2] - nodes.origin[2]) * nodes.stride[2];
  for (Index x = 0, at = from[0]; x < sampling.count[0]; ++x, at += sampling.step[0])
    if (nodes.has(0, at)) to[x] += static_cast<double>(row[(at - nodes.origin[0]) * nodes.stride[0]]);
}

/// Sums of the corners, [y][x].
template <class T>
void add_plane(const View<const T, 3>& field, const Nodes& nodes, const Sampling& sampling,
               const std::vector<XyzIndex>& corners, Index z, std::vector<double>& sums) {
  constexpr Index least_samples = 4096;  // some microseconds, so that a task costs little beside them
  parallel_for(sampling.count[1], std::max<Index>(1, least_samples / sampling.count[0]),
               [&](Index begin, Index end, Worker&) {
                 for (Index y = begin; y < end; ++y)
                   for (const XyzIndex& far : corners)
                     add_row(field, nodes, sampling,
                             {sampling.first[0] + far[0], sampling.first[1] + sampling.step[1] * y + far[1],
                              sampling.first[2] + sampling.step[2] * z + far[2]},
                             sums.data() + y * sampling.count[0]);
               });
}

}  // namespace

bool has_component(Mode mode, const GprmaxAxes& axes, Component users) {
  const Component c = axes.component(users);
  return mode == Mode::em3d || is_electric(c) == (direction(c) == Axis::y);
}

Array sampled_plane(const LiveFields& fields, const Sampling& sampling, Component users, Index z) {
  const DType dtype = fields.precision() == Precision::f32 ? DType::f32 : DType::f64;
  Array made = Array::zeros(Device::cpu(), {sampling.count[1], sampling.count[0]}, dtype);
  const Component c = sampling.axes.component(users);
  if (!fields.grid().has(c)) return made;
  const std::vector<XyzIndex> corners = corners_of(sampling, c);
  std::vector<double> sums(static_cast<std::size_t>(made.count()));
  fields.view(c, Part::padded, [&]<class T>(const View<const T, 3>& field) {
    add_plane(field, nodes_of(fields, sampling.axes, field), sampling, corners, z, sums);
  });
  if (fields.part() != nullptr) fields.part()->add_up(sums);
  const auto count = static_cast<double>(corners.size());
  const auto fill = [&]<class T>(T* to) {
    for (const double sum : sums) *to++ = static_cast<T>(sum / count);
  };
  dtype == DType::f32 ? fill(static_cast<float*>(made.data())) : fill(static_cast<double*>(made.data()));
  return made;
}

}  // namespace sonde::maxwell
