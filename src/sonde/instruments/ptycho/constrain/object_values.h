// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <type_traits>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/model/state.h"

/// Private to this room: what most constraints on an object have in common.
namespace sonde::ptycho::constrain {

/// What empty space is in the values of an object: the transmission 1, or the phase 0.
template <class T>
constexpr T vacuum = std::is_floating_point_v<T> ? T(0) : T(1);

/// Calls body with a view (S, Y, X) of what the object is made of: complex transmissions, or phases; exp(i phase) then
/// follows.
template <class Real, class Body>
void change_values(State& state, Body&& body) {
  if (state.type == ObjectType::complex) {
    body(state.object.view<std::complex<Real>, 3>());
    return;
  }
  body(state.phase.view<Real, 3>());
  state.follow_phase();
}

/// Calls body(slice, row, line) for every line of the last dimension, in parallel.
template <class T, class Body>
void for_lines(const View<T, 3>& values, Body&& body) {
  constexpr Index lines_per_task = 8;
  const Index rows = values.extent[1];
  parallel_for(values.extent[0] * rows, lines_per_task, [&](Index first, Index last, Worker&) {
    for (Index line = first; line < last; ++line)
      body(line / rows, line % rows, values.data + (line / rows) * values.stride[0] + (line % rows) * values.stride[1]);
  });
}

}  // namespace sonde::ptycho::constrain
