// SPDX-License-Identifier: Apache-2.0
// Private to the room: what lets the compiler turn loops over complex pixels into vectors. Real and imaginary parts are
// written out, sums are kept in independent lanes.
#pragma once

#include <algorithm>
#include <complex>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

#define SONDE_INLINE [[gnu::always_inline]] inline

namespace sonde::ptycho::cpu {

template <class Real>
SONDE_INLINE const Real* parts(const Complex<Real>* wave) {
  return reinterpret_cast<const Real*>(wave);
}
template <class Real>
SONDE_INLINE Real* parts(Complex<Real>* wave) {
  return reinterpret_cast<Real*>(wave);
}

constexpr Index strip = 64;  // pixels whose intensities and factors stay in registers and L1
constexpr Index lanes = 16;  // independent sums, so that no order of additions stands in the way of vectors

/// Running sums of a pattern: in Real over a few strips, then in double.
template <class Real>
struct Lanes {
  Real run[lanes] = {};
  double sum = 0;

  /// values[0, strip)
  SONDE_INLINE void add(const Real* values) {
    for (Index l = 0; l < lanes; ++l)
      run[l] += (values[l] + values[lanes + l]) + (values[2 * lanes + l] + values[3 * lanes + l]);
  }
  SONDE_INLINE void flush() {
    for (Index l = 0; l < lanes; ++l) {
      sum += static_cast<double>(run[l]);
      run[l] = 0;
    }
  }
};

template <class Real>
SONDE_INLINE void intensities(const Complex<Real>* waves, Index modes, Index pixels, Index first, Index width,
                              Real scale, Real* intensity) {
  for (Index i = 0; i < width; ++i) intensity[i] = 0;
  for (Index m = 0; m < modes; ++m) {
    const Real* wave = parts(waves + m * pixels + first);
    for (Index i = 0; i < width; ++i) intensity[i] += wave[2 * i] * wave[2 * i] + wave[2 * i + 1] * wave[2 * i + 1];
  }
  for (Index i = 0; i < width; ++i) intensity[i] *= scale;
}

}  // namespace sonde::ptycho::cpu
