// SPDX-License-Identifier: Apache-2.0
// What object and probe change by.
#include <cmath>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/ptycho/model/lanes.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho::cpu {

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

template void add_to_object(const Complex<float>* incident, const Complex<float>* chi, Index modes,
                            View<Complex<float>, 2> numerator, View<float, 2> weight);
template void add_to_object(const Complex<double>* incident, const Complex<double>* chi, Index modes,
                            View<Complex<double>, 2> numerator, View<double, 2> weight);
template void add_object_norms(View<const Complex<float>, 2> object, float* weight);
template void add_object_norms(View<const Complex<double>, 2> object, double* weight);
template void update_object(const Complex<float>* incident, Complex<float>* chi, Index modes, Division<float> of_object,
                            Division<float> of_probe, bool with_object, View<Complex<float>, 2> object);
template void update_object(const Complex<double>* incident, Complex<double>* chi, Index modes,
                            Division<double> of_object, Division<double> of_probe, bool with_object,
                            View<Complex<double>, 2> object);
template StepSums step_sums(View<const Complex<float>, 2>, View<const Complex<float>, 2>, const Complex<float>*,
                            const Complex<float>*, const Complex<float>*, Index);
template StepSums step_sums(View<const Complex<double>, 2>, View<const Complex<double>, 2>, const Complex<double>*,
                            const Complex<double>*, const Complex<double>*, Index);

}  // namespace sonde::ptycho::cpu
