// SPDX-License-Identifier: Apache-2.0
// Loops that the compiler turns into vectors: real and imaginary parts written out, sums in independent lanes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

#define SONDE_INLINE [[gnu::always_inline]] inline

namespace sonde::ptycho::cpu {
namespace {

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

template <class Real>
SONDE_INLINE Real largest_of(const Real (&largest)[lanes]) {
  return *std::max_element(largest, largest + lanes);
}

template <class Real>
SONDE_INLINE Real largest_of_modes(const Complex<Real>* waves, Index modes, Index pixels) {
  Real largest[lanes] = {}, norms[strip];
  const auto piece = [&](Index first, Index width) __attribute__((always_inline)) {
    for (Real& norm : norms) norm = 0;
    intensities<Real>(waves, modes, pixels, first, width, Real(1), norms);
    for (Index k = 0; k < strip; k += lanes)
      for (Index l = 0; l < lanes; ++l) largest[l] = norms[k + l] > largest[l] ? norms[k + l] : largest[l];
  };
  Index first = 0;
  for (; first + strip <= pixels; first += strip) piece(first, strip);
  if (first < pixels) piece(first, pixels - first);
  return largest_of(largest);
}

}  // namespace

template <class Real>
SONDE_MULTIVERSION FrameSums residual(Loss loss, MeasuredPattern<Real> measured, Real eps, Real intensity_scale,
                                      Real scale, bool change, Complex<Real>* waves, Index modes, Index pixels) {
  return judge_by(loss, measured, eps, intensity_scale, scale, change, waves, modes, pixels);
}

template <class Real>
SONDE_MULTIVERSION Real largest_norm(const Complex<Real>* waves, Index modes, Index pixels) {
  return largest_of_modes<Real>(waves, modes, pixels);
}

template <class Real>
SONDE_MULTIVERSION void multiply(View<const Complex<Real>, 2> object, const Complex<Real>* wave,
                                 Complex<Real>* product) {
  const Index cols = object.extent[1];
  for (Index row = 0; row < object.extent[0]; ++row) {
    const Real* o = parts(&object(row, 0));
    const Real* p = parts(wave + row * cols);
    Real* to = parts(product + row * cols);
    for (Index i = 0; i < 2 * cols; i += 2) {
      to[i] = o[i] * p[i] - o[i + 1] * p[i + 1];
      to[i + 1] = o[i] * p[i + 1] + o[i + 1] * p[i];
    }
  }
}

template <class Real>
SONDE_MULTIVERSION void subtract_product(View<const Complex<Real>, 2> object, const Complex<Real>* others,
                                         Complex<Real>* waves, Index modes) {
  const Index rows = object.extent[0], cols = object.extent[1];
  for (Index m = 0; m < modes; ++m)
    for (Index row = 0; row < rows; ++row) {
      const Real* o = parts(&object(row, 0));
      const Real* p = parts(others + (m * rows + row) * cols);
      Real* w = parts(waves + (m * rows + row) * cols);
      for (Index i = 0; i < 2 * cols; i += 2) {
        w[i] -= o[i] * p[i] - o[i + 1] * p[i + 1];
        w[i + 1] -= o[i] * p[i + 1] + o[i + 1] * p[i];
      }
    }
}

template <class Real>
SONDE_MULTIVERSION void multiply_conjugate(View<const Complex<Real>, 2> object, Complex<Real>* wave) {
  const Index cols = object.extent[1];
  for (Index row = 0; row < object.extent[0]; ++row) {
    const Real* o = parts(&object(row, 0));
    Real* w = parts(wave + row * cols);
    for (Index i = 0; i < 2 * cols; i += 2) {
      const Real re = o[i] * w[i] + o[i + 1] * w[i + 1], im = o[i] * w[i + 1] - o[i + 1] * w[i];
      w[i] = re;
      w[i + 1] = im;
    }
  }
}

template <class Real>
SONDE_MULTIVERSION void filter(const Complex<Real>* factor, Real scale, bool conjugate, Complex<Real>* wave,
                               Index count) {
  const Real sign = conjugate ? Real(-1) : Real(1);
  const Real* f = parts(factor);
  Real* w = parts(wave);
  for (Index i = 0; i < 2 * count; i += 2) {
    const Real fr = scale * f[i], fi = scale * sign * f[i + 1];
    const Real re = fr * w[i] - fi * w[i + 1], im = fr * w[i + 1] + fi * w[i];
    w[i] = re;
    w[i + 1] = im;
  }
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
SONDE_MULTIVERSION void ramp(const Complex<Real>* from, const Complex<Real>* ramp_row, const Complex<Real>* ramp_col,
                             Real scale, bool conjugate, Index rows, Index cols, Complex<Real>* to) {
  const Real sign = conjugate ? Real(-1) : Real(1);
  const Real* along = parts(ramp_col);
  for (Index row = 0; row < rows; ++row) {
    const Real ar = scale * ramp_row[row].real(), ai = scale * sign * ramp_row[row].imag();
    const Real* f = parts(from + row * cols);
    Real* t = parts(to + row * cols);
    for (Index i = 0; i < 2 * cols; i += 2) {
      const Real br = along[i], bi = sign * along[i + 1];
      const Real cr = ar * br - ai * bi, ci = ar * bi + ai * br;
      const Real re = cr * f[i] - ci * f[i + 1], im = cr * f[i + 1] + ci * f[i];
      t[i] = re;
      t[i + 1] = im;
    }
  }
}

template <class Real>
SONDE_MULTIVERSION Real add_norms(const Complex<Real>* waves, Index modes, Index pixels, Real* sum) {
  for (Index m = 0; m < modes; ++m) {
    const Real* w = parts(waves + m * pixels);
    for (Index i = 0; i < pixels; ++i) sum[i] += w[2 * i] * w[2 * i] + w[2 * i + 1] * w[2 * i + 1];
  }
  Real largest = 0;
  for (Index i = 0; i < pixels; ++i) largest = sum[i] > largest ? sum[i] : largest;
  return largest;
}

template <class Real>
SONDE_MULTIVERSION Real largest_norm(View<const Complex<Real>, 2> object) {
  Real largest = 0;
  for (Index row = 0; row < object.extent[0]; ++row) {
    const Real here = largest_of_modes<Real>(&object(row, 0), 1, object.extent[1]);
    largest = here > largest ? here : largest;
  }
  return largest;
}

template <class Real>
SONDE_MULTIVERSION double power(const Complex<Real>* waves, Index count) {
  const Real* w = parts(waves);
  double run[lanes] = {};
  Index i = 0;
  for (; i + lanes <= 2 * count; i += lanes)
    for (Index l = 0; l < lanes; ++l) run[l] += static_cast<double>(w[i + l]) * static_cast<double>(w[i + l]);
  double sum = 0;
  for (; i < 2 * count; ++i) sum += static_cast<double>(w[i]) * static_cast<double>(w[i]);
  for (const double lane : run) sum += lane;
  return sum;
}

template <class Real>
SONDE_MULTIVERSION void add_to_object(const Complex<Real>* incident, const Complex<Real>* chi, Index modes,
                                      View<Complex<Real>, 2> numerator, View<Real, 2> weight) {
  const Index rows = numerator.extent[0], cols = numerator.extent[1], pixels = rows * cols;
  for (Index row = 0; row < rows; ++row) {
    Real* n = parts(&numerator(row, 0));
    Real* w = weight.data == nullptr ? nullptr : &weight(row, 0);
    for (Index m = 0; m < modes; ++m) {
      const Real* p = parts(incident + m * pixels + row * cols);
      const Real* c = parts(chi + m * pixels + row * cols);
      for (Index i = 0; i < 2 * cols; i += 2) {
        n[i] += p[i] * c[i] + p[i + 1] * c[i + 1];
        n[i + 1] += p[i] * c[i + 1] - p[i + 1] * c[i];
      }
      if (w != nullptr)
        for (Index i = 0; i < cols; ++i) w[i] += p[2 * i] * p[2 * i] + p[2 * i + 1] * p[2 * i + 1];
    }
  }
}

template <class Real>
SONDE_MULTIVERSION void add_object_norms(View<const Complex<Real>, 2> object, Real* weight) {
  const Index cols = object.extent[1];
  for (Index row = 0; row < object.extent[0]; ++row) {
    const Real* o = parts(&object(row, 0));
    Real* w = weight + row * cols;
    for (Index i = 0; i < cols; ++i) w[i] += o[2 * i] * o[2 * i] + o[2 * i + 1] * o[2 * i + 1];
  }
}

template <class Real>
SONDE_MULTIVERSION void update_object(const Complex<Real>* incident, Complex<Real>* chi, Index modes,
                                      Division<Real> of_object, Division<Real> of_probe, bool with_object,
                                      View<Complex<Real>, 2> object) {
  const Index rows = object.extent[0], cols = object.extent[1], pixels = rows * cols;
  const Real keep_o = 1 - of_object.alpha, most_o = of_object.alpha * of_object.largest;
  const Real keep_p = 1 - of_probe.alpha, most_p = of_probe.alpha * of_probe.largest;
  Real norm[strip], sum_re[strip], sum_im[strip];
  const auto piece = [&](Index row, Index col, Index width) __attribute__((always_inline)) {
    Real* o = parts(&object(row, col));
    for (Index i = 0; i < width; ++i) norm[i] = sum_re[i] = sum_im[i] = 0;
    for (Index m = 0; m < modes; ++m) {
      const Real* p = parts(incident + m * pixels + row * cols + col);
      Real* c = parts(chi + m * pixels + row * cols + col);
      for (Index i = 0; i < width; ++i) {
        const Real pr = p[2 * i], pi = p[2 * i + 1], cr = c[2 * i], ci = c[2 * i + 1];
        const Real re = o[2 * i], im = o[2 * i + 1];
        norm[i] += pr * pr + pi * pi;
        sum_re[i] += pr * cr + pi * ci;
        sum_im[i] += pr * ci - pi * cr;
        const Real f = of_probe.step / (keep_p * (re * re + im * im) + most_p);
        c[2 * i] = f * (re * cr + im * ci);
        c[2 * i + 1] = f * (re * ci - im * cr);
      }
    }
    if (with_object)
      for (Index i = 0; i < width; ++i) {
        const Real f = of_object.step / (keep_o * norm[i] + most_o);
        o[2 * i] += f * sum_re[i];
        o[2 * i + 1] += f * sum_im[i];
      }
  };
  for (Index row = 0; row < rows; ++row) {
    Index col = 0;
    for (; col + strip <= cols; col += strip) piece(row, col, strip);
    if (col < cols) piece(row, col, cols - col);
  }
}

template <class Real>
SONDE_MULTIVERSION StepSums step_sums(View<const Complex<Real>, 2> object,
                                      View<const Complex<Real>, 2> object_direction, const Complex<Real>* probe,
                                      const Complex<Real>* probe_direction, const Complex<Real>* chi, Index modes) {
  const Index rows = object.extent[0], cols = object.extent[1];
  Lanes<Real> xx, yy, xy, chi_x, chi_y;
  for (Index m = 0; m < modes; ++m)
    for (Index row = 0; row < rows; ++row) {
      const Index line = (m * rows + row) * cols;
      for (Index col = 0; col < cols; col += strip) {
        const Index width = cols - col < strip ? cols - col : strip;
        const Real* o = parts(&object(row, col));
        const Real* d = parts(&object_direction(row, col));
        const Real* p = parts(probe + line + col);
        const Real* t = parts(probe_direction + line + col);
        const Real* c = parts(chi + line + col);
        Real s1[strip] = {}, s2[strip] = {}, s3[strip] = {}, s4[strip] = {}, s5[strip] = {};
        for (Index i = 0; i < width; ++i) {
          const Real xr = d[2 * i] * p[2 * i] - d[2 * i + 1] * p[2 * i + 1];
          const Real xi = d[2 * i] * p[2 * i + 1] + d[2 * i + 1] * p[2 * i];
          const Real yr = o[2 * i] * t[2 * i] - o[2 * i + 1] * t[2 * i + 1];
          const Real yi = o[2 * i] * t[2 * i + 1] + o[2 * i + 1] * t[2 * i];
          s1[i] = xr * xr + xi * xi;
          s2[i] = yr * yr + yi * yi;
          s3[i] = xr * yr + xi * yi;
          s4[i] = c[2 * i] * xr + c[2 * i + 1] * xi;
          s5[i] = c[2 * i] * yr + c[2 * i + 1] * yi;
        }
        xx.add(s1);
        yy.add(s2);
        xy.add(s3);
        chi_x.add(s4);
        chi_y.add(s5);
      }
      xx.flush();
      yy.flush();
      xy.flush();
      chi_x.flush();
      chi_y.flush();
    }
  return {xx.sum, yy.sum, xy.sum, chi_x.sum, chi_y.sum};
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

template <class Real>
SONDE_MULTIVERSION void add(Real scale, const Complex<Real>* wave, Complex<Real>* sum, Index count) {
  const Real* w = parts(wave);
  Real* s = parts(sum);
  for (Index i = 0; i < 2 * count; ++i) s[i] += scale * w[i];
}

template void multiply(View<const Complex<float>, 2> object, const Complex<float>* wave, Complex<float>* product);
template void ramp(const Complex<float>*, const Complex<float>*, const Complex<float>*, float, bool, Index, Index,
                   Complex<float>*);
template void multiply_conjugate(View<const Complex<float>, 2> object, Complex<float>* wave);
template void filter(const Complex<float>* factor, float scale, bool conjugate, Complex<float>* wave, Index count);
template float add_norms(const Complex<float>* waves, Index modes, Index pixels, float* sum);
template float largest_norm(const Complex<float>* waves, Index modes, Index pixels);
template float largest_norm(View<const Complex<float>, 2> object);
template double power(const Complex<float>* waves, Index count);
template void add_to_object(const Complex<float>* incident, const Complex<float>* chi, Index modes,
                            View<Complex<float>, 2> numerator, View<float, 2> weight);
template void add_object_norms(View<const Complex<float>, 2> object, float* weight);
template void update_object(const Complex<float>* incident, Complex<float>* chi, Index modes, Division<float> of_object,
                            Division<float> of_probe, bool with_object, View<Complex<float>, 2> object);
template void add(float scale, const Complex<float>* wave, Complex<float>* sum, Index count);
template void multiply(View<const Complex<double>, 2> object, const Complex<double>* wave, Complex<double>* product);
template void ramp(const Complex<double>*, const Complex<double>*, const Complex<double>*, double, bool, Index, Index,
                   Complex<double>*);
template void multiply_conjugate(View<const Complex<double>, 2> object, Complex<double>* wave);
template void filter(const Complex<double>* factor, double scale, bool conjugate, Complex<double>* wave, Index count);
template double add_norms(const Complex<double>* waves, Index modes, Index pixels, double* sum);
template double largest_norm(const Complex<double>* waves, Index modes, Index pixels);
template double largest_norm(View<const Complex<double>, 2> object);
template double power(const Complex<double>* waves, Index count);
template void add_to_object(const Complex<double>* incident, const Complex<double>* chi, Index modes,
                            View<Complex<double>, 2> numerator, View<double, 2> weight);
template void add_object_norms(View<const Complex<double>, 2> object, double* weight);
template void update_object(const Complex<double>* incident, Complex<double>* chi, Index modes,
                            Division<double> of_object, Division<double> of_probe, bool with_object,
                            View<Complex<double>, 2> object);
template void add(double scale, const Complex<double>* wave, Complex<double>* sum, Index count);
template FrameSums residual(Loss, MeasuredPattern<float>, float, float, float, bool, Complex<float>*, Index, Index);
template FrameSums residual(Loss, MeasuredPattern<double>, double, double, double, bool, Complex<double>*, Index,
                            Index);
template void project(Projection<float>, MeasuredPattern<float>, float, float, float, Complex<float>*, Complex<float>*,
                      Index, Index);
template void project(Projection<double>, MeasuredPattern<double>, double, double, double, Complex<double>*,
                      Complex<double>*, Index, Index);
template StepSums step_sums(View<const Complex<float>, 2>, View<const Complex<float>, 2>, const Complex<float>*,
                            const Complex<float>*, const Complex<float>*, Index);
template StepSums step_sums(View<const Complex<double>, 2>, View<const Complex<double>, 2>, const Complex<double>*,
                            const Complex<double>*, const Complex<double>*, Index);
template LineSums line_sums(MeasuredPattern<float>, float, const Complex<float>*, const Complex<float>*,
                            const Complex<float>*, Index, Index);
template LineSums line_sums(MeasuredPattern<double>, double, const Complex<double>*, const Complex<double>*,
                            const Complex<double>*, Index, Index);
template void subtract_product(View<const Complex<float>, 2>, const Complex<float>*, Complex<float>*, Index);
template void subtract_product(View<const Complex<double>, 2>, const Complex<double>*, Complex<double>*, Index);

}  // namespace sonde::ptycho::cpu
