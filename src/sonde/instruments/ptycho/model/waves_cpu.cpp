// SPDX-License-Identifier: Apache-2.0
// Products, shifts and sizes of waves.
#include <cmath>
#include <numbers>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/ptycho/model/lanes.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho::cpu {
namespace {

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
void fill_ramp(double fraction, std::span<Complex<Real>> ramp) {
  const auto n = static_cast<Index>(ramp.size());
  for (Index i = 0; i < n; ++i) {
    const Index k = i < (n + 1) / 2 ? i : i - n;
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) * fraction / static_cast<double>(n);
    ramp[static_cast<std::size_t>(i)] = {static_cast<Real>(std::cos(angle)), static_cast<Real>(std::sin(angle))};
  }
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
      const Real re = o[i] * p[i] - o[i + 1] * p[i + 1], im = o[i] * p[i + 1] + o[i + 1] * p[i];
      to[i] = re;
      to[i + 1] = im;
    }
  }
}

template <class Real>
SONDE_MULTIVERSION void step_through(View<const Complex<Real>, 2> object, View<const Complex<Real>, 2> toward,
                                     Complex<Real>* a0, Complex<Real>* a1, Complex<Real>* a2) {
  const Index cols = object.extent[1];
  for (Index row = 0; row < object.extent[0]; ++row) {
    const Real* o = parts(&object(row, 0));
    const Real* h = parts(&toward(row, 0));
    Real* zero = parts(a0 + row * cols);
    Real* one = parts(a1 + row * cols);
    Real* two = parts(a2 + row * cols);
    for (Index i = 0; i < 2 * cols; i += 2) {
      const Real re = o[i], im = o[i + 1], hr = h[i], hi = h[i + 1];
      const Real zr = zero[i], zi = zero[i + 1], fr = one[i], fi = one[i + 1], sr = two[i], si = two[i + 1];
      two[i] = re * sr - im * si + (hr * fr - hi * fi);
      two[i + 1] = re * si + im * sr + (hr * fi + hi * fr);
      one[i] = re * fr - im * fi + (hr * zr - hi * zi);
      one[i + 1] = re * fi + im * fr + (hr * zi + hi * zr);
      zero[i] = re * zr - im * zi;
      zero[i + 1] = re * zi + im * zr;
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
SONDE_MULTIVERSION void add(Real scale, const Complex<Real>* wave, Complex<Real>* sum, Index count) {
  const Real* w = parts(wave);
  Real* s = parts(sum);
  for (Index i = 0; i < 2 * count; ++i) s[i] += scale * w[i];
}

template <class Real>
SONDE_MULTIVERSION void add(Complex<Real> scale, const Complex<Real>* wave, Complex<Real>* sum, Index count) {
  const Real re = scale.real(), im = scale.imag();
  const Real* w = parts(wave);
  Real* s = parts(sum);
  for (Index i = 0; i < 2 * count; i += 2) {
    s[i] += re * w[i] - im * w[i + 1];
    s[i + 1] += re * w[i + 1] + im * w[i];
  }
}

template <class Real>
SONDE_MULTIVERSION Real largest_norm(const Complex<Real>* waves, Index modes, Index pixels) {
  return largest_of_modes<Real>(waves, modes, pixels);
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

template void multiply(View<const Complex<float>, 2> object, const Complex<float>* wave, Complex<float>* product);
template void multiply(View<const Complex<double>, 2> object, const Complex<double>* wave, Complex<double>* product);
template void fill_ramp(double, std::span<Complex<float>>);
template void fill_ramp(double, std::span<Complex<double>>);
template void step_through(View<const Complex<float>, 2>, View<const Complex<float>, 2>, Complex<float>*,
                           Complex<float>*, Complex<float>*);
template void step_through(View<const Complex<double>, 2>, View<const Complex<double>, 2>, Complex<double>*,
                           Complex<double>*, Complex<double>*);
template void subtract_product(View<const Complex<float>, 2>, const Complex<float>*, Complex<float>*, Index);
template void subtract_product(View<const Complex<double>, 2>, const Complex<double>*, Complex<double>*, Index);
template void multiply_conjugate(View<const Complex<float>, 2> object, Complex<float>* wave);
template void multiply_conjugate(View<const Complex<double>, 2> object, Complex<double>* wave);
template void filter(const Complex<float>* factor, float scale, bool conjugate, Complex<float>* wave, Index count);
template void filter(const Complex<double>* factor, double scale, bool conjugate, Complex<double>* wave, Index count);
template void ramp(const Complex<float>*, const Complex<float>*, const Complex<float>*, float, bool, Index, Index,
                   Complex<float>*);
template void ramp(const Complex<double>*, const Complex<double>*, const Complex<double>*, double, bool, Index, Index,
                   Complex<double>*);
template void add(float scale, const Complex<float>* wave, Complex<float>* sum, Index count);
template void add(double scale, const Complex<double>* wave, Complex<double>* sum, Index count);
template void add(Complex<float> scale, const Complex<float>* wave, Complex<float>* sum, Index count);
template void add(Complex<double> scale, const Complex<double>* wave, Complex<double>* sum, Index count);
template float largest_norm(const Complex<float>* waves, Index modes, Index pixels);
template float largest_norm(View<const Complex<float>, 2> object);
template double largest_norm(const Complex<double>* waves, Index modes, Index pixels);
template double largest_norm(View<const Complex<double>, 2> object);
template double power(const Complex<float>* waves, Index count);
template double power(const Complex<double>* waves, Index count);

}  // namespace sonde::ptycho::cpu
