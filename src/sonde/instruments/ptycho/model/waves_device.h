// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a GPU does with the waves of a group of patterns, pixel by pixel; cuFFT does the transforms
// between. Waves are (slots, modes, rows, cols). The CPU's twins are in waves_cpu.cpp, detector_cpu.cpp and
// exposure.cpp.
#pragma once

#include <cmath>

#include "sonde/instruments/ptycho/model/device_kernels.h"
#include "sonde/instruments/ptycho/model/loss.h"
#include "sonde/instruments/ptycho/model/position_sums.h"

namespace sonde::ptycho::device {

/// -2 pi times the frequency of element i of n in the order of a transform, in cycles per pixel; the Nyquist line is
/// negative.
SONDE_DEVICE inline double ramp_slope(Index i, Index n) {
  constexpr double two_pi = 6.283185307179586476925286766559;
  return -two_pi * static_cast<double>(i < (n + 1) / 2 ? i : i - n) / static_cast<double>(n);
}

/// exp(-2 pi i k f) for each row and each column of every slot, f its placement's fraction; (slots, rows + cols).
template <class Real>
struct FillRamps {
  Layout of;
  Complex<Real>* ramps = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index slot = block.index(); slot < of.now->count; slot += block.count()) {
      const Placement& at = of.placement(slot);
      Complex<Real>* to = ramps + slot * (of.rows + of.cols);
      block.each(of.rows + of.cols, [&](Index i) {
        const bool of_row = i < of.rows;
        const double angle =
            of_row ? ramp_slope(i, of.rows) * at.shift_row : ramp_slope(i - of.rows, of.cols) * at.shift_col;
        to[i] = {static_cast<Real>(std::cos(angle)), static_cast<Real>(std::sin(angle))};
      });
    }
  }
};

/// The multiplier that shifts a slot's probe, at a pixel of its spectrum.
template <class Real>
SONDE_DEVICE inline Complex<Real> ramp_at(const Layout& of, const Complex<Real>* ramps, Index slot,
                                          std::uint32_t pixel) {
  const Complex<Real>* own = ramps + slot * (of.rows + of.cols);
  return product(own[of.row_of(pixel)], own[of.rows + of.col_of(pixel)]);
}

/// Spectra of shifted probes: to = scale ramp spectrum.
template <class Real>
struct ShiftProbe {
  Layout of;
  const Complex<Real>* spectrum = nullptr;  // (modes, rows, cols)
  const Complex<Real>* ramps = nullptr;
  Real scale = 1;
  Complex<Real>* to = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      to[of.wave(slot, mode) + pixel] =
          scaled(scale, product(ramp_at(of, ramps, slot, pixel), spectrum[mode * of.pixels() + pixel]));
    });
  }
};

/// Spectra of the derivatives of shifted probes by their frame's row or column, per pixel.
template <class Real>
struct DifferentiateProbe {
  Layout of;
  const Complex<Real>* spectrum = nullptr;  // (modes, rows, cols)
  const Complex<Real>* ramps = nullptr;
  Real scale = 1;
  bool by_row = true;
  Complex<Real>* to = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      const auto slope =
          static_cast<Real>(by_row ? ramp_slope(of.row_of(pixel), of.rows) : ramp_slope(of.col_of(pixel), of.cols));
      const Complex<Real> there = product(ramp_at(of, ramps, slot, pixel), spectrum[mode * of.pixels() + pixel]);
      to[of.wave(slot, mode) + pixel] = scaled(scale * slope, {-there.im, there.re});
    });
  }
};

/// The waves that hit a slice. Slot i begins at i * stride; 0: all slots are hit by the same, the probe on whole
/// pixels.
template <class Real>
struct Incident {
  const Complex<Real>* waves = nullptr;
  Index stride = 0;
};

/// waves = O incident, O the slice's window under each pattern. In place: the incident waves may be `waves`.
template <class Real>
struct Illuminate {
  Layout of;
  const Complex<Real>* object = nullptr;  // one slice
  Incident<Real> incident;
  Complex<Real>* waves = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      const Complex<Real> p = incident.waves[slot * incident.stride + mode * of.pixels() + pixel];
      waves[of.wave(slot, mode) + pixel] = product(object[of.under(of.placement(slot), pixel)], p);
    });
  }
};

/// Along object + t toward and probe + t its direction, waves become a0 + t a1 + t^2 a2: how they go through a slice,
/// what then goes with t^3 left out (docs/ptycho-theory.md#ml).
template <class Real>
struct StepThrough {
  Layout of;
  const Complex<Real>*object = nullptr, *toward = nullptr;  // one slice
  Complex<Real>*a0 = nullptr, *a1 = nullptr, *a2 = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      const Index at = of.wave(slot, mode) + pixel, under = of.under(of.placement(slot), pixel);
      const Complex<Real> o = object[under], d = toward[under], zero = a0[at], one = a1[at];
      a0[at] = product(o, zero);
      Complex<Real> first = product(o, one), second = product(o, a2[at]);
      add_to(first, product(d, zero));
      add_to(second, product(d, one));
      a1[at] = first;
      a2[at] = second;
    });
  }
};

/// waves = the same for every slot: incident waves of the first slice.
template <class Real>
struct Spread {
  Layout of;
  Incident<Real> incident;
  Complex<Real>* waves = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      waves[of.wave(slot, mode) + pixel] = incident.waves[slot * incident.stride + mode * of.pixels() + pixel];
    });
  }
};

/// waves = conj(O) waves: back through a slice.
template <class Real>
struct BackThrough {
  Layout of;
  const Complex<Real>* object = nullptr;
  Complex<Real>* waves = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      Complex<Real>& wave = waves[of.wave(slot, mode) + pixel];
      wave = product(conjugate(object[of.under(of.placement(slot), pixel)]), wave);
    });
  }
};

/// waves *= scale H or scale conj(H), H the free space between two slices, in Fourier space.
template <class Real>
struct FreeSpace {
  Layout of;
  const Complex<Real>* propagator = nullptr;  // (rows, cols)
  Real scale = 1;
  bool back = false;
  Complex<Real>* waves = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      const Complex<Real> h = back ? conjugate(propagator[pixel]) : propagator[pixel];
      Complex<Real>& wave = waves[of.wave(slot, mode) + pixel];
      wave = scaled(scale, product(h, wave));
    });
  }
};

/// How the measured amplitudes lie in memory (Measurement, AmplitudeStorage).
enum class Stored : std::uint8_t { f64, f32, f16, bf16, counts_u8, counts_u16 };

/// Amplitudes sqrt(I) of the patterns: of all frames, or of those in flight.
struct Patterns {
  const void* data = nullptr;  // (frames or slots, rows, cols)
  Stored as = Stored::f32;
  bool by_slot = false;

  template <class Real>
  [[nodiscard]] SONDE_DEVICE Real amplitude(Index at) const {
    switch (as) {
      case Stored::f64:
        return static_cast<Real>(static_cast<const double*>(data)[at]);
      case Stored::f32:
        return static_cast<Real>(static_cast<const float*>(data)[at]);
      case Stored::f16:
        return static_cast<Real>(from_fp16(static_cast<const std::uint16_t*>(data)[at]));
      case Stored::bf16:
        return static_cast<Real>(from_bf16(static_cast<const std::uint16_t*>(data)[at]));
      case Stored::counts_u8:
        return std::sqrt(static_cast<Real>(static_cast<const std::uint8_t*>(data)[at]));
      default:
        return std::sqrt(static_cast<Real>(static_cast<const std::uint16_t*>(data)[at]));
    }
  }
};

/// The patterns in flight as an engine's own kernels see them.
template <class Real>
struct Flight {
  Layout of;
  Patterns patterns;
  const Real* weights = nullptr;  // (rows, cols), or null: all pixels are measured
  Real eps = 0;                   // of the model
  Real scale = 1;                 // 1 / pixels: what the transforms leave out, of intensities and of both ways
  Complex<Real>* waves = nullptr;
  // Of the slice in hand: the last one at the detector, the first one behind the object.
  Index slice = 0;
  const Complex<Real>* object = nullptr;
  Incident<Real> incident;
  // What lives in the probe's window and was brought to each pattern (DeviceVisit::brings).
  Incident<Real> brought;
  // Room for sums: (slots, strips, fit_sums), and (slots, 2).
  double *partial = nullptr, *by_slot = nullptr;
};

/// What a pixel of the detector says: how its waves are multiplied, -w l'(I), and its share of FrameSums.
template <class Real>
struct PixelFit {
  Real factor, loss, intensity_error2, amplitude_error, amplitude_error2, deviance;
};

/// a: measured amplitude, w: 1 where it was measured, else 0, model: the intensity I of the waves
/// (docs/ptycho-theory.md: losses, 6.1). `smallest` keeps logarithms finite, so that 0 log 0 = 0.
template <class Real>
SONDE_DEVICE inline PixelFit<Real> judge_pixel(Loss loss, Real a, Real w, Real eps, Real smallest, Real model) {
  constexpr Real three_eighths = Real(0.375);
  const Real measured = a * a;
  const Real di = measured - model, da = a - std::sqrt(model);
  const Real likely = model - measured + measured * std::log((measured + smallest) / (model + smallest));
  PixelFit<Real> fit{0, 0, w * di * di, w * std::abs(da), w * da * da, w * likely};
  switch (loss) {
    case Loss::amplitude: {
      const Real softened = std::sqrt(model + eps), d = softened - a;
      fit.factor = w * (a / softened - Real(1));
      fit.loss = w * d * d;
      break;
    }
    case Loss::anscombe: {
      const Real x = std::sqrt(model + three_eighths), y = std::sqrt(measured + three_eighths), d = x - y;
      fit.factor = w * (y / x - Real(1));
      fit.loss = w * d * d;
      break;
    }
    case Loss::poisson:
      fit.factor = w * (measured / (model + eps) - Real(1));
      fit.loss = w * (model - measured + measured * std::log((measured + smallest) / (model + eps)));
      break;
    default: {
      const Real over = Real(1) / (measured + Real(1));
      fit.factor = 2 * w * di * over;
      fit.loss = w * di * di * over;
    }
  }
  return fit;
}

inline constexpr int fit_sums = 5;  // of FrameSums, in its order

/// waves = -share scale w l'(I) waves, I = scale sum_m |wave_m|^2, and the sums of the fit over each strip of each
/// pattern in double precision. `shared`: a pattern's share is the first of its two numbers in flight.by_slot; else 1.
template <class Real>
struct Residual {
  Flight<Real> flight;
  Loss loss = Loss::amplitude;
  Real smallest = 0;
  bool change = true, shared = false;

  [[nodiscard]] Index pieces() const { return flight.of.slots * flight.of.strips(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Layout& of = flight.of;
    const Index strips = of.strips(), pixels = of.pixels();
    for (Index piece = block.index(); piece < of.now->count * strips; piece += block.count()) {
      const Index slot = piece / strips, from = piece % strips * strip;
      const Index pattern = flight.patterns.by_slot ? slot : of.frame(slot);
      const Real share = shared ? static_cast<Real>(flight.by_slot[2 * slot]) : Real(1);
      Complex<Real>* own = flight.waves + of.wave(slot, 0);
      double found[fit_sums];
      block.template sums<fit_sums>(lesser(strip, pixels - from), found, [&](Index i, double(&partial_sums)[fit_sums]) {
        const Index pixel = from + i;
        Real intensity = 0;
        for (Index m = 0; m < of.modes; ++m) intensity += norm(own[m * pixels + pixel]);
        const PixelFit<Real> fit = judge_pixel(loss, flight.patterns.template amplitude<Real>(pattern * pixels + pixel),
                                               flight.weights == nullptr ? Real(1) : flight.weights[pixel], flight.eps,
                                               smallest, flight.scale * intensity);
        partial_sums[0] += static_cast<double>(fit.loss);
        partial_sums[1] += static_cast<double>(fit.intensity_error2);
        partial_sums[2] += static_cast<double>(fit.amplitude_error);
        partial_sums[3] += static_cast<double>(fit.amplitude_error2);
        partial_sums[4] += static_cast<double>(fit.deviance);
        if (change)
          for (Index m = 0; m < of.modes; ++m)
            own[m * pixels + pixel] = scaled(share * flight.scale * fit.factor, own[m * pixels + pixel]);
      });
      block.once([&] {
        for (int k = 0; k < fit_sums; ++k) flight.partial[piece * fit_sums + k] = found[k];
      });
    }
  }
};

/// Along waves A0 + t A1 + t^2 A2 the loss `intensity` is about B0 + B1 t + B2 t^2: B1 and B2 of each strip of each
/// pattern, in the places of the first two sums of a fit.
template <class Real>
struct LineSums {
  Flight<Real> flight;
  const Complex<Real>*a0 = nullptr, *a1 = nullptr, *a2 = nullptr;

  [[nodiscard]] Index pieces() const { return flight.of.slots * flight.of.strips(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Layout& of = flight.of;
    const Index strips = of.strips(), pixels = of.pixels();
    for (Index piece = block.index(); piece < of.now->count * strips; piece += block.count()) {
      const Index slot = piece / strips, from = piece % strips * strip, own = of.wave(slot, 0);
      const Index pattern = flight.patterns.by_slot ? slot : of.frame(slot);
      double found[2];
      block.template sums<2>(lesser(strip, pixels - from), found, [&](Index i, double(&sums)[2]) {
        const Index pixel = from + i;
        Real r0 = 0, r1 = 0, r2 = 0;
        for (Index m = 0; m < of.modes; ++m) {
          const Index at = own + m * pixels + pixel;
          const Complex<Real> x = a0[at], y = a1[at], z = a2[at];
          r0 += norm(x);
          r1 += 2 * (x.re * y.re + x.im * y.im);
          r2 += norm(y) + 2 * (x.re * z.re + x.im * z.im);
        }
        const Real a = flight.patterns.template amplitude<Real>(pattern * pixels + pixel), counts = a * a;
        const Real w = (flight.weights == nullptr ? Real(1) : flight.weights[pixel]) / (counts + Real(1));
        const Real p = flight.scale * r0 - counts, q = flight.scale * r1, r = flight.scale * r2;
        sums[0] += static_cast<double>(2 * w * p * q);
        sums[1] += static_cast<double>(w * (q * q + 2 * p * r));
      });
      block.once([&] {
        for (int k = 0; k < fit_sums; ++k) flight.partial[piece * fit_sums + k] = k < 2 ? found[k] : 0;
      });
    }
  }
};

/// PositionSums over each strip of each pattern, in the places of a fit. The waves are the far field, `down` and
/// `across` its derivatives by row and column.
template <class Real>
struct ShiftSums {
  Flight<Real> flight;
  const Complex<Real>*down = nullptr, *across = nullptr;
  double unit = 1;  // 1 / sqrt(pixels)

  [[nodiscard]] Index pieces() const { return flight.of.slots * flight.of.strips(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    static_assert(fit_sums == 5);
    const Layout& of = flight.of;
    const Index strips = of.strips(), pixels = of.pixels();
    for (Index piece = block.index(); piece < of.now->count * strips; piece += block.count()) {
      const Index slot = piece / strips, from = piece % strips * strip, own = of.wave(slot, 0);
      const Index pattern = flight.patterns.by_slot ? slot : of.frame(slot);
      double found[fit_sums];
      block.template sums<fit_sums>(lesser(strip, pixels - from), found, [&](Index i, double(&sums)[fit_sums]) {
        const Index pixel = from + i;
        if (flight.weights != nullptr && flight.weights[pixel] == 0) return;
        Real intensity = 0, dy = 0, dx = 0;
        for (Index m = 0; m < of.modes; ++m) {
          const Index at = own + m * pixels + pixel;
          const Complex<Real> psi = flight.waves[at], y = down[at], x = across[at];
          intensity += norm(psi);
          dy += psi.re * y.re + psi.im * y.im;
          dx += psi.re * x.re + psi.im * x.im;
        }
        const PositionSums share =
            position_share(intensity, dy, dx, unit, flight.patterns.template amplitude<Real>(pattern * pixels + pixel));
        sums[0] += share.yy;
        sums[1] += share.yx;
        sums[2] += share.xx;
        sums[3] += share.by;
        sums[4] += share.bx;
      });
      block.once([&] {
        for (int k = 0; k < fit_sums; ++k) flight.partial[piece * fit_sums + k] = found[k];
      });
    }
  }
};

/// The fit of each pattern in flight from its strips, in their order.
struct SumFit {
  Layout of;
  const double* partial = nullptr;
  double* fit = nullptr;  // (frames, fit_sums)

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    if (block.index() != 0) return;
    block.each(of.now->count * fit_sums, [&](Index i) {
      const Index slot = i / fit_sums, k = i % fit_sums, strips = of.strips();
      double sum = 0;
      for (Index s = 0; s < strips; ++s) sum += partial[(slot * strips + s) * fit_sums + k];
      fit[of.frame(slot) * fit_sums + k] = sum;
    });
  }
};

}  // namespace sonde::ptycho::device
