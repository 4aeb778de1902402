// SPDX-License-Identifier: Apache-2.0
// One Gauss-Newton step of every position, from the derivative of its amplitudes.
#include <cmath>

#include "sonde/instruments/ptycho/positions/correct.h"

namespace sonde::ptycho {
namespace {

void operator+=(PositionSums& sums, PositionSums share) {
  sums.yy += share.yy;
  sums.yx += share.yx;
  sums.xx += share.xx;
  sums.by += share.by;
  sums.bx += share.bx;
}

}  // namespace

/// Through several slices the derivative goes the way of the wave.
template <class Real>
PositionSums PositionCorrection<Real>::sums(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure,
                                            std::vector<Complex>& room) const {
  const Model<Real>& model = bench.model();
  const Index pixels = model.pixels(), count = model.modes() * pixels;
  exposure.forward(bench.state(), bench.spectrum(), frame);
  Complex *down = room.data(), *across = down + count;
  exposure.differentiate(bench.spectrum(), down, across);
  exposure.propagate(down);
  exposure.propagate(across);
  const Real* measured = exposure.amplitudes(frame);
  const Real* weights = model.measurement().template weights<Real>();
  const Complex* psi = exposure.waves();
  const double unit = 1 / std::sqrt(static_cast<double>(pixels));  // the transforms do not scale
  PositionSums sums;
  for (Index i = 0; i < pixels; ++i) {
    if (weights != nullptr && weights[i] == 0) continue;
    Real intensity = 0, dy = 0, dx = 0;
    for (Index m = 0; m < model.modes(); ++m) {
      const Complex p = psi[m * pixels + i], y = down[m * pixels + i], x = across[m * pixels + i];
      intensity += std::norm(p);
      dy += p.real() * y.real() + p.imag() * y.imag();
      dx += p.real() * x.real() + p.imag() * x.imag();
    }
    sums += position_share(intensity, dy, dx, unit, measured[i]);
  }
  return sums;
}

/// The step that the sums ask for; none without light.
template <class Real>
Point PositionCorrection<Real>::gradient(PositionSums sums) const {
  const double damping = 0.01 * (sums.yy + sums.xx), yy = sums.yy + damping, xx = sums.xx + damping;
  const double determinant = yy * xx - sums.yx * sums.yx;
  if (!(determinant > 0)) return {};
  return {settings_.step * (sums.by * xx - sums.bx * sums.yx) / determinant,
          settings_.step * (sums.bx * yy - sums.by * sums.yx) / determinant};
}

template PositionSums PositionCorrection<float>::sums(Workbench<float>&, Index, Exposure<float>&,
                                                      std::vector<std::complex<float>>&) const;
template PositionSums PositionCorrection<double>::sums(Workbench<double>&, Index, Exposure<double>&,
                                                       std::vector<std::complex<double>>&) const;
template Point PositionCorrection<float>::gradient(PositionSums) const;
template Point PositionCorrection<double>::gradient(PositionSums) const;

}  // namespace sonde::ptycho
