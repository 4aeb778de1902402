// SPDX-License-Identifier: Apache-2.0
// Private to the room: steps along preconditioned sums by the threads of a GPU (engine/device/team.h). The CPU's twins
// are in preconditioned_step.cpp.
#pragma once

#include <cmath>

#include "sonde/instruments/ptycho/model/sums_device.h"

namespace sonde::ptycho::device {

/// target += step numerator / sqrt(keep2 w^2 + 1e-16 + (floor max w)^2). With a phase the target is exp(i phase), and
/// only the phase moves.
template <class Real>
struct PreconditionedStep {
  const Complex<Real>* numerator = nullptr;  // (planes, elements)
  const Real* weight = nullptr;              // (elements) for every plane
  const std::uint64_t* largest = nullptr;    // of the weight, as ordered bits
  Index planes = 1, elements = 0;
  double floor = 0;
  Real keep2 = 0, step = 0;
  Complex<Real>* target = nullptr;
  Real* phase = nullptr;  // may be null

  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return planes * strips_of(elements); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const double most = floor * number_of(*largest);
    const Real floor2 = static_cast<Real>(1e-16 + most * most);
    for (Index piece = block.index(); piece < pieces(); piece += block.count()) {
      const Index plane = piece / strips_of(elements), from = piece % strips_of(elements) * strip;
      block.each(lesser(strip, elements - from), [&](Index i) {
        const Real w = weight[from + i];
        const Real factor = step / std::sqrt(keep2 * w * w + floor2);
        const Index at = plane * elements + from + i;
        if (phase == nullptr)
          add_to(target[at], scaled(factor, numerator[at]));
        else if (w != 0)
          turn(at, factor);
      });
    }
  }

 private:
  SONDE_DEVICE void turn(Index at, Real factor) const {
    phase[at] += factor * product(conjugate(target[at]), numerator[at]).im;
    target[at] = {std::cos(phase[at]), std::sin(phase[at])};
  }
};

}  // namespace sonde::ptycho::device
