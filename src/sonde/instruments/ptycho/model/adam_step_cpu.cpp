// SPDX-License-Identifier: Apache-2.0
// One step of Adam.
#include <cmath>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/ptycho/model/lanes.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho::cpu {

template <class Real>
SONDE_MULTIVERSION void adam_step(AdamRates<Real> by, Real scale, const Complex<Real>* down, Complex<Real>* mean,
                                  Real* square, Complex<Real>* target, Index count) {
  const Real fresh1 = 1 - by.beta1, fresh2 = 1 - by.beta2;
  const Real* g = parts(down);
  Real *m = parts(mean), *t = parts(target);
  for (Index i = 0; i < count; ++i) {
    const Real re = scale * g[2 * i], im = scale * g[2 * i + 1];
    m[2 * i] = by.beta1 * m[2 * i] + fresh1 * re;
    m[2 * i + 1] = by.beta1 * m[2 * i + 1] + fresh1 * im;
    square[i] = by.beta2 * square[i] + fresh2 * (re * re + im * im);
    const Real factor = by.rate / (std::sqrt(by.correction * square[i]) + by.epsilon);
    t[2 * i] += factor * m[2 * i];
    t[2 * i + 1] += factor * m[2 * i + 1];
  }
}

template void adam_step(AdamRates<float>, float, const Complex<float>*, Complex<float>*, float*, Complex<float>*,
                        Index);
template void adam_step(AdamRates<double>, double, const Complex<double>*, Complex<double>*, double*, Complex<double>*,
                        Index);
}  // namespace sonde::ptycho::cpu
