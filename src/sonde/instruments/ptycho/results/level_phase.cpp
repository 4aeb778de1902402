// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/level_phase.h"

#include <cassert>
#include <complex>
#include <utility>

namespace sonde::ptycho {
namespace {

/// waves (n, rows, columns) times exp(i ramp), about the pixel that centred waves turn round.
template <class Real>
void multiply(View<std::complex<Real>, 3> waves, const PhaseRamp& ramp) {
  for (Index n = 0; n < waves.extent[0]; ++n)
    for (Index row = 0; row < waves.extent[1]; ++row)
      for (Index col = 0; col < waves.extent[2]; ++col) {
        const double phase = ramp.per_row * static_cast<double>(row - waves.extent[1] / 2) +
                             ramp.per_col * static_cast<double>(col - waves.extent[2] / 2);
        waves(n, row, col) *= std::complex<Real>(std::polar(1.0, phase));
      }
}

void multiply(Array& waves, const PhaseRamp& ramp) {
  if (waves.empty()) return;
  if (waves.dtype() == DType::c64)
    multiply(waves.view<complex64, 3>(), ramp);
  else
    multiply(waves.view<complex128, 3>(), ramp);
}

}  // namespace

bool has_free_ramp(const Result& result) {
  const Box view = result.field_of_view();
  return result.object.shape()[0] == 1 && view.rows > 1 && view.cols > 1;
}

PhaseRamp level_phase(Result& result) {
  assert(has_free_ramp(result));
  const Box view = result.field_of_view();
  PhaseRamp ramp;
  if (result.type == ObjectType::potential) {
    ramp = remove_phase_ramps(result.phase, view)[0];
    State state;
    state.type = result.type;
    state.object = std::move(result.object);
    state.phase = std::move(result.phase);
    state.follow_phase();
    result.object = std::move(state.object);
    result.phase = std::move(state.phase);
  } else {
    ramp = remove_phase_ramps(result.object, view)[0];
  }
  multiply(result.probe, ramp);
  multiply(result.opr_modes, ramp);
  return ramp;
}

}  // namespace sonde::ptycho
