// SPDX-License-Identifier: Apache-2.0
// What the detector says: misfit, its derivative, and projections on the measured moduli.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/ptycho/model/lanes.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho::cpu {
namespace {

/// log(x) for x > 0 and finite. Float: exponent and a polynomial of the mantissa (Cephes logf), within 2 ulp.
SONDE_INLINE float logarithm(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  // Mantissa in [sqrt(1/2), sqrt(2)).
  const std::uint32_t shifted = bits - 0x3f3504f3u;
  const auto exponent = static_cast<float>(static_cast<std::int32_t>(shifted) >> 23);
  const float m = std::bit_cast<float>((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float m2 = m * m;
  return m + (p * m * m2 - 0.5f * m2) + 0.69314718056f * exponent;
}
SONDE_INLINE double logarithm(double x) { return std::log(x); }

constexpr int poisson_rounds = 4;  // of a fixed point that is reached quadratically

template <class Real>
struct SumsOf {
  Lanes<Real> loss, intensity_error2, amplitude_error, amplitude_error2, deviance;

  SONDE_INLINE void flush() {
    loss.flush();
    intensity_error2.flush();
    amplitude_error.flush();
    amplitude_error2.flush();
    deviance.flush();
  }
  SONDE_INLINE FrameSums totals() const {
    return {loss.sum, intensity_error2.sum, amplitude_error.sum, amplitude_error2.sum, deviance.sum};
  }
};

/// From intensities to -w l' for up to a strip of pixels; pixels from `width` on count nothing.
template <Loss loss, class Real>
SONDE_INLINE void factors(const Real* amplitudes, const Real* weights, Real eps, const Real* intensity, Index width,
                          Real* factor, SumsOf<Real>& sums) {
  constexpr Real three_eighths = Real(0.375);
  // Logarithms need positive numbers; far below any intensity that matters, so that 0 log 0 = 0.
  constexpr Real tiny = std::numeric_limits<Real>::min() * Real(1e8);
  Real loss_of[strip] = {}, i2[strip] = {}, a1[strip] = {}, a2[strip] = {}, dev[strip] = {};
  for (Index i = 0; i < width; ++i) {
    const Real w = weights[i];
    const Real a = amplitudes[i], measured = a * a, model = intensity[i];
    const Real root = std::sqrt(model);
    const Real di = measured - model, da = a - root;
    const Real likely = model - measured + measured * logarithm((measured + tiny) / (model + tiny));
    i2[i] = w * di * di;
    a1[i] = w * std::abs(da);
    a2[i] = w * da * da;
    dev[i] = w * likely;
    if constexpr (loss == Loss::amplitude) {
      const Real softened = std::sqrt(model + eps), d = softened - a;
      factor[i] = w * (a / softened - Real(1));
      loss_of[i] = w * d * d;
    } else if constexpr (loss == Loss::anscombe) {
      const Real x = std::sqrt(model + three_eighths), y = std::sqrt(measured + three_eighths), d = x - y;
      factor[i] = w * (y / x - Real(1));
      loss_of[i] = w * d * d;
    } else if constexpr (loss == Loss::poisson) {
      factor[i] = w * (measured / (model + eps) - Real(1));
      loss_of[i] = w * (model - measured + measured * logarithm((measured + tiny) / (model + eps)));
    } else {
      const Real over = Real(1) / (measured + Real(1));
      factor[i] = 2 * w * di * over;
      loss_of[i] = w * di * di * over;
    }
  }
  sums.loss.add(loss_of);
  sums.intensity_error2.add(i2);
  sums.amplitude_error.add(a1);
  sums.amplitude_error2.add(a2);
  sums.deviance.add(dev);
}

template <Loss loss, class Real>
SONDE_INLINE FrameSums judge(MeasuredPattern<Real> measured, Real eps, Real intensity_scale, Real scale, bool change,
                             Complex<Real>* waves, Index modes, Index pixels) {
  SumsOf<Real> sums;
  Real intensity[strip], factor[strip], ones[strip];
  for (Real& one : ones) one = 1;
  const auto piece = [&](Index first, Index width) __attribute__((always_inline)) {
    intensities<Real>(waves, modes, pixels, first, width, intensity_scale, intensity);
    factors<loss>(measured.amplitudes + first, measured.weights != nullptr ? measured.weights + first : ones, eps,
                  intensity, width, factor, sums);
    if (change)
      for (Index m = 0; m < modes; ++m) {
        Real* wave = parts(waves + m * pixels + first);
        for (Index i = 0; i < width; ++i) {
          const Real f = scale * factor[i];
          wave[2 * i] *= f;
          wave[2 * i + 1] *= f;
        }
      }
  };
  Index first = 0, strips = 0;
  for (; first + strip <= pixels; first += strip) {
    piece(first, strip);
    if (++strips % 16 == 0) sums.flush();
  }
  if (first < pixels) piece(first, pixels - first);
  sums.flush();
  return sums.totals();
}

template <class Real>
SONDE_INLINE FrameSums judge_by(Loss loss, MeasuredPattern<Real> measured, Real eps, Real intensity_scale, Real scale,
                                bool change, Complex<Real>* waves, Index modes, Index pixels) {
  switch (loss) {
    case Loss::amplitude:
      return judge<Loss::amplitude>(measured, eps, intensity_scale, scale, change, waves, modes, pixels);
    case Loss::anscombe:
      return judge<Loss::anscombe>(measured, eps, intensity_scale, scale, change, waves, modes, pixels);
    case Loss::poisson:
      return judge<Loss::poisson>(measured, eps, intensity_scale, scale, change, waves, modes, pixels);
    default:
      return judge<Loss::intensity>(measured, eps, intensity_scale, scale, change, waves, modes, pixels);
  }
}

}  // namespace

template <class Real>
SONDE_MULTIVERSION FrameSums residual(Loss loss, MeasuredPattern<Real> measured, Real eps, Real intensity_scale,
                                      Real scale, bool change, Complex<Real>* waves, Index modes, Index pixels) {
  return judge_by(loss, measured, eps, intensity_scale, scale, change, waves, modes, pixels);
}

template <class Real>
SONDE_MULTIVERSION Real poisson_step(MeasuredPattern<Real> measured, Real eps, Real intensity_scale,
                                     const Complex<Real>* waves, Index modes, Index pixels) {
  Real intensity[strip];
  Real alpha = Real(0.5);  // the answer where model and counts are close
  for (int round = 0; round < poisson_rounds; ++round) {
    Lanes<Real> above, below;
    Index strips = 0;
    for (Index first = 0; first < pixels; first += strip) {
      const Index width = pixels - first < strip ? pixels - first : strip;
      intensities<Real>(waves, modes, pixels, first, width, intensity_scale, intensity);
      Real up[strip] = {}, down[strip] = {};
      for (Index i = 0; i < width; ++i) {
        const Real a = measured.amplitudes[first + i], counts = a * a, model = intensity[i];
        const Real w = measured.weights != nullptr ? measured.weights[first + i] : Real(1);
        const Real xi = 1 - counts / (model + eps);
        // Without counts xi is 1, and so may be alpha.
        const Real rest = counts > 0 ? counts / (1 - alpha * xi) : Real(0);
        up[i] = w * xi * (model - rest);
        down[i] = w * xi * xi * model;
      }
      above.add(up);
      below.add(down);
      if (++strips % 16 == 0) {
        above.flush();
        below.flush();
      }
    }
    above.flush();
    below.flush();
    if (!(below.sum > 0)) return alpha;  // a perfect fit
    const Real next = (alpha + static_cast<Real>(above.sum / below.sum)) / 2;
    alpha = next < 0 ? Real(0) : next > 1 ? Real(1) : next;
  }
  return alpha;
}

template <class Real>
SONDE_MULTIVERSION void project(Projection<Real> by, MeasuredPattern<Real> measured, Real eps, Real intensity_scale,
                                Real scale, Complex<Real>* object, Complex<Real>* stored, Index modes, Index pixels) {
  Real intensity[strip], ones[strip], part[strip];
  for (Real& one : ones) one = 1;
  const auto mixed = [&](Index first, Index width) __attribute__((always_inline)) {
    for (Index i = 0; i < width; ++i) intensity[i] = 0;
    for (Index m = 0; m < modes; ++m) {
      const Real* o = parts(object + m * pixels + first);
      const Real* p = parts(stored + m * pixels + first);
      for (Index i = 0; i < width; ++i) {
        const Real re = by.c * o[2 * i] + (1 - by.c) * p[2 * i];
        const Real im = by.c * o[2 * i + 1] + (1 - by.c) * p[2 * i + 1];
        intensity[i] += re * re + im * im;
      }
    }
    for (Index i = 0; i < width; ++i) intensity[i] *= intensity_scale;
  };
  const auto weights = [&](Index first) { return measured.weights != nullptr ? measured.weights + first : ones; };

  Real keep = 0;  // of the amplitude's deviation
  if (by.bound > 0) {
    Lanes<Real> error, count;
    for (Index first = 0; first < pixels; first += strip) {
      const Index width = pixels - first < strip ? pixels - first : strip;
      mixed(first, width);
      const Real* w = weights(first);
      Real counted[strip] = {};
      for (Real& value : part) value = 0;
      for (Index i = 0; i < width; ++i) {
        const Real d = std::sqrt(intensity[i]) - measured.amplitudes[first + i];
        part[i] = w[i] * d * d;
        counted[i] = w[i];
      }
      error.add(part);
      count.add(counted);
    }
    error.flush();
    count.flush();
    const double mean = error.sum / count.sum;
    keep = mean <= static_cast<double>(by.bound) ? Real(1)
                                                 : static_cast<Real>(std::sqrt(static_cast<double>(by.bound) / mean));
  }
  for (Index first = 0; first < pixels; first += strip) {
    const Index width = pixels - first < strip ? pixels - first : strip;
    mixed(first, width);
    const Real* w = weights(first);
    for (Index i = 0; i < width; ++i) {
      const Real root = std::sqrt(intensity[i] + eps), a = measured.amplitudes[first + i];
      part[i] = by.b * (1 + w[i] * ((a + keep * (root - a)) / root - 1));
    }
    for (Index m = 0; m < modes; ++m) {
      Real* o = parts(object + m * pixels + first);
      Real* p = parts(stored + m * pixels + first);
      const Real rest = 1 - by.a - by.b;
      for (Index i = 0; i < width; ++i) {
        const Real of_object = by.a + part[i] * by.c, of_stored = rest + part[i] * (1 - by.c);
        const Real re = of_object * o[2 * i] + of_stored * p[2 * i];
        const Real im = of_object * o[2 * i + 1] + of_stored * p[2 * i + 1];
        p[2 * i] = re;
        p[2 * i + 1] = im;
        o[2 * i] = scale * re;
        o[2 * i + 1] = scale * im;
      }
    }
  }
}

template <class Real>
SONDE_MULTIVERSION LineSums line_sums(MeasuredPattern<Real> measured, Real intensity_scale, const Complex<Real>* a0,
                                      const Complex<Real>* a1, const Complex<Real>* a2, Index modes, Index pixels) {
  Lanes<Real> b1, b2;
  Index strips = 0;
  for (Index first = 0; first < pixels; first += strip) {
    const Index width = pixels - first < strip ? pixels - first : strip;
    Real r0[strip] = {}, r1[strip] = {}, r2[strip] = {}, s1[strip] = {}, s2[strip] = {};
    for (Index m = 0; m < modes; ++m) {
      const Real* x = parts(a0 + m * pixels + first);
      const Real* y = parts(a1 + m * pixels + first);
      const Real* z = parts(a2 + m * pixels + first);
      for (Index i = 0; i < width; ++i) {
        r0[i] += x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1];
        r1[i] += 2 * (x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1]);
        r2[i] +=
            y[2 * i] * y[2 * i] + y[2 * i + 1] * y[2 * i + 1] + 2 * (x[2 * i] * z[2 * i] + x[2 * i + 1] * z[2 * i + 1]);
      }
    }
    for (Index i = 0; i < width; ++i) {
      const Real a = measured.amplitudes[first + i], counts = a * a;
      const Real w = (measured.weights != nullptr ? measured.weights[first + i] : Real(1)) / (counts + 1);
      const Real p = intensity_scale * r0[i] - counts, q = intensity_scale * r1[i], r = intensity_scale * r2[i];
      s1[i] = 2 * w * p * q;
      s2[i] = w * (q * q + 2 * p * r);
    }
    b1.add(s1);
    b2.add(s2);
    if (++strips % 16 == 0) {
      b1.flush();
      b2.flush();
    }
  }
  b1.flush();
  b2.flush();
  return {b1.sum, b2.sum};
}

template FrameSums residual(Loss, MeasuredPattern<float>, float, float, float, bool, Complex<float>*, Index, Index);
template FrameSums residual(Loss, MeasuredPattern<double>, double, double, double, bool, Complex<double>*, Index,
                            Index);
template float poisson_step(MeasuredPattern<float>, float, float, const Complex<float>*, Index, Index);
template double poisson_step(MeasuredPattern<double>, double, double, const Complex<double>*, Index, Index);
template void project(Projection<float>, MeasuredPattern<float>, float, float, float, Complex<float>*, Complex<float>*,
                      Index, Index);
template void project(Projection<double>, MeasuredPattern<double>, double, double, double, Complex<double>*,
                      Complex<double>*, Index, Index);
template LineSums line_sums(MeasuredPattern<float>, float, const Complex<float>*, const Complex<float>*,
                            const Complex<float>*, Index, Index);
template LineSums line_sums(MeasuredPattern<double>, double, const Complex<double>*, const Complex<double>*,
                            const Complex<double>*, Index, Index);

}  // namespace sonde::ptycho::cpu
