// SPDX-License-Identifier: Apache-2.0
// Private to the room: projections of exit waves by the threads of a GPU (engine/device/team.h). The CPU's twins are in
// projections.cpp and model/detector_cpu.cpp.
#pragma once

#include <cmath>

#include "sonde/instruments/ptycho/model/sums_device.h"

namespace sonde::ptycho::device {

/// Far fields of exit waves as they are kept: (frames, modes, rows, cols).
SONDE_DEVICE inline Index kept_at(const Layout& of, Index slot, Index mode, Index pixel) {
  return (of.frame(slot) * of.modes + mode) * of.pixels() + pixel;
}

/// kept = waves, and waves = scale kept.
template <class Real>
struct KeepWaves {
  Layout of;
  Real scale = 1;
  Complex<Real>*waves = nullptr, *kept = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      Complex<Real>& wave = waves[of.wave(slot, mode) + pixel];
      kept[kept_at(of, slot, mode, pixel)] = wave;
      wave = scaled(scale, wave);
    });
  }
};

/// Far fields, as they are kept, of waves that move by parts of a pixel: `shifts` (frames, 2), down and across.
template <class Real>
struct ShiftKept {
  Index rows = 0, cols = 0, modes = 1, frames = 0;
  const double* shifts = nullptr;
  Complex<Real>* kept = nullptr;

  /// A line of a wave each.
  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return frames * modes * rows; }
  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < pieces(); piece += block.count()) {
      const Index frame = piece / (modes * rows);
      const double down = ramp_slope(piece % rows, rows) * shifts[2 * frame];
      block.each(cols, [&](Index col) {
        const double angle = down + ramp_slope(col, cols) * shifts[2 * frame + 1];
        Complex<Real>& wave = kept[piece * cols + col];
        wave = product(Complex<Real>{static_cast<Real>(std::cos(angle)), static_cast<Real>(std::sin(angle))}, wave);
      });
    }
  }
};

/// waves = scale kept.
template <class Real>
struct TakeWaves {
  Layout of;
  Real scale = 1;
  const Complex<Real>* kept = nullptr;
  Complex<Real>* waves = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      waves[of.wave(slot, mode) + pixel] = scaled(scale, kept[kept_at(of, slot, mode, pixel)]);
    });
  }
};

/// waves -= O incident.
template <class Real>
struct SubtractProduct {
  Layout of;
  const Complex<Real>* object = nullptr;
  Incident<Real> incident;
  Complex<Real>* waves = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      const Complex<Real> p = incident.waves[slot * incident.stride + mode * of.pixels() + pixel];
      const Complex<Real> made = product(object[of.under(of.placement(slot), pixel)], p);
      add_to(waves[of.wave(slot, mode) + pixel], {-made.re, -made.im});
    });
  }
};

/// How a wave is taken between two sets (model/pattern_kernels.h, Projection).
template <class Real>
struct Between {
  Real a = 0, b = 1, c = 1, bound = 0;
};

/// What the two kernels of a projection share: the far field of P O is in the waves in flight, psi is kept.
template <class Real>
struct Projected {
  Flight<Real> flight;
  Between<Real> by;
  Complex<Real>* kept = nullptr;

  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return flight.of.slots * flight.of.strips(); }
  [[nodiscard]] SONDE_DEVICE Real measured(Index slot, Index pixel) const {
    const Index pattern = flight.patterns.by_slot ? slot : flight.of.frame(slot);
    return flight.patterns.template amplitude<Real>(pattern * flight.of.pixels() + pixel);
  }
  [[nodiscard]] SONDE_DEVICE Real weight(Index pixel) const {
    return flight.weights == nullptr ? Real(1) : flight.weights[pixel];
  }
  /// Of c P O + (1 - c) psi.
  [[nodiscard]] SONDE_DEVICE Real intensity(Index slot, Index pixel) const {
    Real sum = 0;
    for (Index m = 0; m < flight.of.modes; ++m) {
      Complex<Real> mixed = scaled(by.c, flight.waves[flight.of.wave(slot, m) + pixel]);
      add_to(mixed, scaled(1 - by.c, kept[kept_at(flight.of, slot, m, pixel)]));
      sum += norm(mixed);
    }
    return flight.scale * sum;
  }
};

/// The squared error of the amplitudes that are to be projected, and how many count: of each strip of each pattern, in
/// the first two places.
template <class Real>
struct AmplitudeError {
  Projected<Real> of;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Layout& layout = of.flight.of;
    const Index strips = layout.strips();
    for (Index piece = block.index(); piece < layout.now->count * strips; piece += block.count()) {
      const Index slot = piece / strips, from = piece % strips * strip;
      double found[2];
      block.template sums<2>(lesser(strip, layout.pixels() - from), found, [&](Index i, double(&sums)[2]) {
        const Real d = std::sqrt(of.intensity(slot, from + i)) - of.measured(slot, from + i);
        const Real w = of.weight(from + i);
        sums[0] += static_cast<double>(w * d * d);
        sums[1] += static_cast<double>(w);
      });
      block.once([&] {
        for (int k = 0; k < 2; ++k) of.flight.partial[piece * fit_sums + k] = found[k];
      });
    }
  }
};

/// How much of the amplitudes' deviation stays, for each pattern in flight: what leaves a mean squared error of
/// `bound`, and all of it where the error is smaller. One thread block.
struct DeviationKept {
  Layout of;
  const double* partial = nullptr;
  double bound = 0;
  double* by_slot = nullptr;  // (slots, 2), the first of each

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    if (block.index() != 0) return;
    block.each(of.now->count, [&](Index slot) {
      double error = 0, count = 0;
      for (Index s = 0; s < of.strips(); ++s) {
        error += partial[(slot * of.strips() + s) * fit_sums];
        count += partial[(slot * of.strips() + s) * fit_sums + 1];
      }
      const double mean = error / count;
      by_slot[2 * slot] = mean <= bound ? 1 : std::sqrt(bound / mean);
    });
  }
};

/// psi+ = (1 - a - b) psi + a P O + b PiF(c P O + (1 - c) psi), kept; the waves become scale psi+.
template <class Real>
struct Project {
  Projected<Real> of;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Layout& layout = of.flight.of;
    const Between<Real>& by = of.by;
    const Real rest = 1 - by.a - by.b;
    const Index strips = layout.strips();
    for (Index piece = block.index(); piece < layout.now->count * strips; piece += block.count()) {
      const Index slot = piece / strips, from = piece % strips * strip;
      const Real keep = by.bound > 0 ? static_cast<Real>(of.flight.by_slot[2 * slot]) : Real(0);
      block.each(lesser(strip, layout.pixels() - from), [&](Index i) {
        const Index pixel = from + i;
        const Real root = std::sqrt(of.intensity(slot, pixel) + of.flight.eps), a = of.measured(slot, pixel);
        const Real part = by.b * (1 + of.weight(pixel) * ((a + keep * (root - a)) / root - 1));
        const Real of_object = by.a + part * by.c, of_kept = rest + part * (1 - by.c);
        for (Index m = 0; m < layout.modes; ++m) {
          Complex<Real>& wave = of.flight.waves[layout.wave(slot, m) + pixel];
          Complex<Real>& stored = of.kept[kept_at(layout, slot, m, pixel)];
          Complex<Real> next = scaled(of_object, wave);
          add_to(next, scaled(of_kept, stored));
          stored = next;
          wave = scaled(of.flight.scale, next);
        }
      });
    }
  }
};

/// The sum of each strip of a plane.
template <class Real>
struct SumElements {
  const Real* values = nullptr;
  Index count = 0;
  double* partial = nullptr;  // strips

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count()) {
      double found[1];
      block.template sums<1>(lesser(strip, count - piece * strip), found, [&](Index i, double(&sums)[1]) {
        sums[0] += static_cast<double>(values[piece * strip + i]);
      });
      block.once([&] { partial[piece] = found[0]; });
    }
  }
};

/// O = (d W_mean O + numerator) / (d W_mean + W); with a phase O is exp(i phase), and only its direction counts.
template <class Real>
struct SolveObject {
  const Complex<Real>* numerator = nullptr;
  const Real* weight = nullptr;
  const double* total = nullptr;  // of the weight
  double keep = 0;                // d
  Index count = 0;
  Complex<Real>* object = nullptr;
  Real* phase = nullptr;  // may be null

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Real of_old = static_cast<Real>(keep * (*total / static_cast<double>(count)));
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count())
      block.each(lesser(strip, count - piece * strip), [&](Index i) { solve(piece * strip + i, of_old); });
  }

 private:
  SONDE_DEVICE void solve(Index at, Real of_old) const {
    const Real divisor = of_old + weight[at];
    if (!(divisor > 0)) return;
    Complex<Real> best = scaled(of_old, object[at]);
    add_to(best, numerator[at]);
    best = {best.re / divisor, best.im / divisor};
    if (phase == nullptr) {
      object[at] = best;
      return;
    }
    const Complex<Real> turned = product(best, conjugate(object[at]));
    phase[at] += std::atan2(turned.im, turned.re);
    object[at] = {std::cos(phase[at]), std::sin(phase[at])};
  }
};

/// P += numerator / (d W_mean + W), and of each strip of all modes the power of that step and of P before.
template <class Real>
struct SolveProbe {
  const Complex<Real>* numerator = nullptr;  // (modes, pixels)
  const Real* weight = nullptr;              // (pixels)
  const double* total = nullptr;             // of the weight
  double keep = 0;                           // d
  Index pixels = 0, count = 0;               // of a mode, of all
  Complex<Real>* probe = nullptr;
  double* partial = nullptr;  // (strips, 2)

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Real of_old = static_cast<Real>(keep * *total / static_cast<double>(pixels));
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count()) {
      double found[2];
      block.template sums<2>(lesser(strip, count - piece * strip), found, [&](Index i, double(&sums)[2]) {
        const Index at = piece * strip + i;
        const Real divisor = of_old + weight[at % pixels];
        if (!(divisor > 0)) return;
        const Complex<Real> step{numerator[at].re / divisor, numerator[at].im / divisor}, before = probe[at];
        const auto squared_length = [](Complex<Real> a) {
          return static_cast<double>(a.re) * static_cast<double>(a.re) +
                 static_cast<double>(a.im) * static_cast<double>(a.im);
        };
        sums[0] += squared_length(step);
        sums[1] += squared_length(before);
        probe[at] = {before.re + step.re, before.im + step.im};
      });
      block.once([&] {
        for (int k = 0; k < 2; ++k) partial[piece * 2 + k] = found[k];
      });
    }
  }
};

}  // namespace sonde::ptycho::device
