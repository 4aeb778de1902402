// SPDX-License-Identifier: Apache-2.0
// Private to the instrument: the loops over the pixels of one pattern, for one thread and everything in its cache.
// Waves are contiguous (rows, cols); `object` is the window of a larger array, so its rows lie apart. Modes follow each
// other. Every loop exists for float and double.
#pragma once

#include <complex>
#include <span>

#include "sonde/engine/array/view.h"
#include "sonde/instruments/ptycho/model/loss.h"
#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/model/step_sums.h"

namespace sonde::ptycho::cpu {

template <class Real>
using Complex = std::complex<Real>;

/// A wave a0 + t a1 + t^2 a2 goes through a slice object + t toward; what then goes with t^3 is left out.
template <class Real>
void step_through(View<const Complex<Real>, 2> object, View<const Complex<Real>, 2> toward, Complex<Real>* a0,
                  Complex<Real>* a1, Complex<Real>* a2);
/// product = object wave; may be in place.
template <class Real>
void multiply(View<const Complex<Real>, 2> object, const Complex<Real>* wave, Complex<Real>* product);
/// waves -= object others, for every mode.
template <class Real>
void subtract_product(View<const Complex<Real>, 2> object, const Complex<Real>* others, Complex<Real>* waves,
                      Index modes);
/// wave = conj(object) wave.
template <class Real>
void multiply_conjugate(View<const Complex<Real>, 2> object, Complex<Real>* wave);
/// wave(i) *= scale factor(i), or its conjugate.
template <class Real>
void filter(const Complex<Real>* factor, Real scale, bool conjugate, Complex<Real>* wave, Index count);

/// What shifts a wave by a fraction of a pixel along one axis: exp(-2 pi i k fraction) for k in FFT order, in cycles
/// per pixel; the Nyquist line included, so that every multiplier has modulus one.
template <class Real>
void fill_ramp(double fraction, std::span<Complex<Real>> ramp);
/// to(row, col) = scale ramp_row(row) ramp_col(col) from(row, col), or with the conjugate ramps. May be in place.
template <class Real>
void ramp(const Complex<Real>* from, const Complex<Real>* ramp_row, const Complex<Real>* ramp_col, Real scale,
          bool conjugate, Index rows, Index cols, Complex<Real>* to);

/// What the detector says about a pattern: amplitudes sqrt(I_m), and weights of 1 (measured) and 0, or nullptr when all
/// pixels are measured.
template <class Real>
struct MeasuredPattern {
  const Real* amplitudes;
  const Real* weights;
};

/// waves = -scale w l'(I) waves for all modes, I = intensity_scale sum_m |waves_m|^2, with l' the derivative of the
/// loss (docs/ptycho-theory.md#losses-and-their-derivatives). With the amplitude loss that is scale (Psi' - Psi), Psi'
/// having the measured modulus. Without `change` the waves stay. Returns the sums over the pattern.
template <class Real>
FrameSums residual(Loss loss, MeasuredPattern<Real> measured, Real eps, Real intensity_scale, Real scale, bool change,
                   Complex<Real>* waves, Index modes, Index pixels);

/// How far to go along the residual of the loss `poisson` (with scale 1): the alpha in [0, 1] at which waves
/// (1 - alpha xi), xi = 1 - I_m / (I + eps), have the largest likelihood. That is where alpha sum xi^2 I =
/// sum xi (I - I_m / (1 - alpha xi)); solved by going half of the way there a few times (docs/ptycho-theory.md#lsqml),
/// which near the solution squares the error. Changes nothing.
template <class Real>
Real poisson_step(MeasuredPattern<Real> measured, Real eps, Real intensity_scale, const Complex<Real>* waves,
                  Index modes, Index pixels);

/// How a wave is taken between two sets (docs/ptycho-theory.md): stored+ = (1 - a - b) stored + a object
///   + b PiF(c object + (1 - c) stored), PiF being the projection on the measured modulus. A frame whose mean squared
/// amplitude error is at most `bound` (counts per pixel; 0: none) is left, others are brought to that distance.
template <class Real>
struct Projection {
  Real a, b, c, bound;
};

/// The same in Fourier space: `object` is the far field of P O, unnormalised like all here, `stored` that of the exit
/// wave; both (modes, pixels). `stored` becomes stored+, `object` scale stored+.
template <class Real>
void project(Projection<Real> by, MeasuredPattern<Real> measured, Real eps, Real intensity_scale, Real scale,
             Complex<Real>* object, Complex<Real>* stored, Index modes, Index pixels);

/// The largest sum_m |wave_m(i)|^2.
template <class Real>
Real largest_norm(const Complex<Real>* waves, Index modes, Index pixels);
template <class Real>
Real largest_norm(View<const Complex<Real>, 2> object);
/// sum |wave(i)|^2 in double.
template <class Real>
double power(const Complex<Real>* waves, Index count);

/// numerator += sum_m conj(incident_m) chi_m and weight += sum_m |incident_m|^2, in a window like the object's.
template <class Real>
void add_to_object(const Complex<Real>* incident, const Complex<Real>* chi, Index modes,
                   View<Complex<Real>, 2> numerator, View<Real, 2> weight);
/// weight += |object|^2.
template <class Real>
void add_object_norms(View<const Complex<Real>, 2> object, Real* weight);

/// How an update is divided: (1 - alpha) |illumination|^2 + alpha max |illumination|^2, times 1 / step.
/// alpha = 1 is ePIE's division by the maximum.
template <class Real>
struct Division {
  Real step, alpha, largest;
};

/// One sequential update (docs/ptycho-theory.md#epie-rpie-mpie): with O the object before,
///   object += step_o sum_m conj(incident_m) chi_m / d_o(sum_m |incident_m|^2)
///   chi_m   = step_p conj(O) chi_m / d_p(|O|^2)
/// so that chi is what the probe changes by. Without `with_object` the object stays.
template <class Real>
void update_object(const Complex<Real>* incident, Complex<Real>* chi, Index modes, Division<Real> of_object,
                   Division<Real> of_probe, bool with_object, View<Complex<Real>, 2> object);

/// Adam (Kingma and Ba 2015, algorithm 1) on `count` complex numbers: with g = scale down
///   mean = beta1 mean + (1 - beta1) g,  square = beta2 square + (1 - beta2) |g|^2,
///   target += rate mean / (sqrt(correction square) + epsilon)
template <class Real>
struct AdamRates {
  Real beta1, beta2, correction, rate, epsilon;
};
template <class Real>
void adam_step(AdamRates<Real> by, Real scale, const Complex<Real>* down, Complex<Real>* mean, Real* square,
               Complex<Real>* target, Index count);

template <class Real>
StepSums step_sums(View<const Complex<Real>, 2> object, View<const Complex<Real>, 2> object_direction,
                   const Complex<Real>* probe, const Complex<Real>* probe_direction, const Complex<Real>* chi,
                   Index modes);

/// Along waves A0 + t A1 + t^2 A2 the loss `intensity` is about B0 + B1 t + B2 t^2 (docs/ptycho-theory.md#ml); the
/// waves are unnormalised, (modes, pixels).
struct LineSums {
  double b1 = 0, b2 = 0;
};
template <class Real>
LineSums line_sums(MeasuredPattern<Real> measured, Real intensity_scale, const Complex<Real>* a0,
                   const Complex<Real>* a1, const Complex<Real>* a2, Index modes, Index pixels);

/// sum(i) += scale wave(i).
template <class Real>
void add(Real scale, const Complex<Real>* wave, Complex<Real>* sum, Index count);
template <class Real>
void add(Complex<Real> scale, const Complex<Real>* wave, Complex<Real>* sum, Index count);

}  // namespace sonde::ptycho::cpu
