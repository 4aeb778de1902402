// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/sampled_fields.h"

#include <algorithm>
#include <vector>

#include "sonde/engine/device/parallel.h"

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

/// Adds the samples of one row, those on and behind a wall but zero.
template <class T>
void add_row(const View<const T, 3>& field, const Sampling& sampling, const XyzIndex& from, std::vector<double>& to) {
  XyzIndex stride{}, extent{};
  for (std::size_t u = 0; u < 3; ++u) {
    stride[u] = field.stride[dimension(sampling.axes.axis(u))];
    extent[u] = field.extent[dimension(sampling.axes.axis(u))];
  }
  if (from[0] >= extent[0] || from[1] >= extent[1] || from[2] >= extent[2]) return;
  const T* first = field.data + from[0] * stride[0] + from[1] * stride[1] + from[2] * stride[2];
  const Index step = sampling.step[0] * stride[0];
  const Index inside = std::min(sampling.count[0], (extent[0] - from[0] - 1) / sampling.step[0] + 1);
  for (Index x = 0; x < inside; ++x) to[static_cast<std::size_t>(x)] += static_cast<double>(first[x * step]);
}

template <class T>
void fill(const View<const T, 3>& field, const Sampling& sampling, const std::vector<XyzIndex>& corners, Index z,
          View<T, 2> plane) {
  constexpr Index least_samples = 4096;  // some microseconds, so that a task costs little beside them
  const auto count = static_cast<double>(corners.size());
  parallel_for(plane.extent[0], std::max<Index>(1, least_samples / plane.extent[1]),
               [&](Index begin, Index end, Worker&) {
                 std::vector<double> row(static_cast<std::size_t>(plane.extent[1]));
                 for (Index y = begin; y < end; ++y) {
                   std::fill(row.begin(), row.end(), 0.0);
                   for (const XyzIndex& far : corners)
                     add_row(field, sampling,
                             {sampling.first[0] + far[0], sampling.first[1] + sampling.step[1] * y + far[1],
                              sampling.first[2] + sampling.step[2] * z + far[2]},
                             row);
                   for (Index x = 0; x < plane.extent[1]; ++x)
                     plane(y, x) = static_cast<T>(row[static_cast<std::size_t>(x)] / count);
                 }
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
  fields.view(c, Part::padded,
              [&]<class T>(const View<const T, 3>& field) { fill(field, sampling, corners, z, made.view<T, 2>()); });
  return made;
}

}  // namespace sonde::maxwell
