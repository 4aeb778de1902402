// SPDX-License-Identifier: Apache-2.0
// Private to the room: steps of adam by the threads of a GPU (engine/device/team.h). The CPU's twins are in adam.cpp.
#pragma once

#include <cmath>
#include <cstdint>

#include "sonde/instruments/ptycho/model/sums_device.h"

namespace sonde::ptycho::device {

/// Counts a step, and says what the means are worth after that many: rate / (1 - beta1^n) and 1 / (1 - beta2^n). It is
/// counted here because what is recorded is the same in every step.
struct NextAdamStep {
  double beta1 = 0, beta2 = 0, rate = 0;
  std::int64_t* steps = nullptr;
  double* worth = nullptr;  // two

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    if (block.index() != 0) return;
    block.once([&] {
      const auto n = static_cast<double>(++*steps);
      worth[0] = rate * (1 / (1 - std::pow(beta1, n)));
      worth[1] = 1 / (1 - std::pow(beta2, n));
    });
  }
};

template <class Real>
SONDE_DEVICE inline Real squared(Real a) {
  return a * a;
}
template <class Real>
SONDE_DEVICE inline Real squared(Complex<Real> a) {
  return norm(a);
}
template <class Real>
SONDE_DEVICE inline Real scaled(Real factor, Real a) {
  return factor * a;
}
template <class Real>
SONDE_DEVICE inline void add_to(Real& sum, Real a) {
  sum += a;
}

/// The running means of a gradient's element and of its square, and target += their step. With a phase the target is
/// exp(i phase), and only the phase moves.
template <class Real>
struct AdamStep {
  const Complex<Real>* down = nullptr;  // minus the gradient of a batch
  const Group* now = nullptr;           // of that batch
  Index active = 1;                     // frames that the gradient is scaled to
  Index count = 0;
  Real keep_mean = 0, keep_square = 0, epsilon = 0;
  const double* worth = nullptr;
  Complex<Real>* mean = nullptr;  // of a complex target
  Real* real_mean = nullptr;      // of a phase
  Real* square = nullptr;
  Complex<Real>* target = nullptr;
  Real* phase = nullptr;  // may be null

  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return strips_of(count); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Real scale = static_cast<Real>(static_cast<double>(active) / static_cast<double>(now->members));
    const Real rate = static_cast<Real>(worth[0]), correction = static_cast<Real>(worth[1]);
    for (Index piece = block.index(); piece < pieces(); piece += block.count())
      block.each(lesser(strip, count - piece * strip), [&](Index i) {
        const Index at = piece * strip + i;
        if (phase == nullptr) {
          add_to(target[at], change(scaled(scale, down[at]), mean[at], square[at], rate, correction));
          return;
        }
        const Real along = product(conjugate(target[at]), down[at]).im;
        phase[at] += change(2 * scale * along, real_mean[at], square[at], rate, correction);
        target[at] = {std::cos(phase[at]), std::sin(phase[at])};
      });
  }

 private:
  template <class Element>
  SONDE_DEVICE Element change(Element gradient, Element& of_mean, Real& of_square, Real rate, Real correction) const {
    of_mean = scaled(keep_mean, of_mean);
    add_to(of_mean, scaled(1 - keep_mean, gradient));
    of_square = keep_square * of_square + (1 - keep_square) * squared(gradient);
    return scaled(rate / (std::sqrt(correction * of_square) + epsilon), of_mean);
  }
};

}  // namespace sonde::ptycho::device
