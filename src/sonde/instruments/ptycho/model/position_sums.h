// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sonde/engine/base/host_device.h"

namespace sonde::ptycho {

/// What the detector says of a frame's shift: Gauss-Newton on the amplitudes A = sqrt(sum_m |Psi_m|^2) solves N df = b,
/// N = sum dA dA^T and b = sum dA (sqrt I_m - A) over the measured pixels, dA = sum_m Re(conj(Psi_m) dPsi_m) / A the
/// derivative by row (y) and by column (x). Most of dPsi only turns phases, which no detector sees: with all of dPsi in
/// N steps come out a thousand times too short.
struct PositionSums {
  double yy = 0, yx = 0, xx = 0;  ///< N
  double by = 0, bx = 0;          ///< b
};

/// The share of one pixel, the same lines on the CPU and on a GPU. `intensity` is sum_m |Psi_m|^2, `dy` and `dx` are
/// sum_m Re(conj(Psi_m) dPsi_m), of transforms that do not scale: `unit` is 1 / sqrt(pixels). `measured` is sqrt(I_m).
template <class Real>
SONDE_HOST_DEVICE inline PositionSums position_share(Real intensity, Real dy, Real dx, double unit, Real measured) {
  if (!(intensity > 0)) return {};
  const double root = std::sqrt(static_cast<double>(intensity));
  const double row = unit * static_cast<double>(dy) / root, col = unit * static_cast<double>(dx) / root;
  const double missing = static_cast<double>(measured) - unit * root;
  return {row * row, row * col, col * col, row * missing, col * missing};
}

}  // namespace sonde::ptycho
