// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/state.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/device/parallel.h"

namespace sonde::ptycho {
namespace {

template <class Real>
void exponential(const Array& phase, Array& object) {
  const auto from = phase.view<Real, 3>();
  auto to = object.view<std::complex<Real>, 3>();
  parallel_for(from.count(), 4096, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) to.data[i] = {std::cos(from.data[i]), std::sin(from.data[i])};
  });
}

}  // namespace

bool State::fractional() const {
  return std::any_of(placements.begin(), placements.end(),
                     [](const Placement& at) { return at.shift_row != 0 || at.shift_col != 0; });
}

State State::clone() const {
  const auto own = [](const Array& array) { return array.empty() ? Array() : array.clone(); };
  return {.type = type,
          .object = own(object),
          .phase = own(phase),
          .probe = own(probe),
          .opr_modes = own(opr_modes),
          .opr_weights = own(opr_weights),
          .positions = positions,
          .placements = placements};
}

void State::follow_phase() {
  if (type != ObjectType::potential) return;
  if (phase.dtype() == DType::f32)
    exponential<float>(phase, object);
  else
    exponential<double>(phase, object);
}

}  // namespace sonde::ptycho
