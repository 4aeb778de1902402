// SPDX-License-Identifier: Apache-2.0
// Private to the room: updates under frames that do not meet, by the threads of a GPU (engine/device/team.h). The CPU's
// twins are in pie.cpp and model/update_cpu.cpp.
#pragma once

#include <cmath>

#include "sonde/instruments/ptycho/model/sums_device.h"

namespace sonde::ptycho::device {

/// The largest sum_m |incident_m|^2 and the largest |O|^2 under each strip of each pattern in flight, in the first two
/// places.
template <class Real>
struct LargestLight {
  Flight<Real> flight;

  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return flight.of.slots * flight.of.strips(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Layout& of = flight.of;
    const Index strips = of.strips(), pixels = of.pixels();
    for (Index piece = block.index(); piece < of.now->count * strips; piece += block.count()) {
      const Index slot = piece / strips, from = piece % strips * strip, width = lesser(strip, pixels - from);
      const Complex<Real>* incident = flight.incident.waves + slot * flight.incident.stride + from;
      const double light = block.largest(width, [&](Index i) {
        Real sum = 0;
        for (Index m = 0; m < of.modes; ++m) sum += norm(incident[m * pixels + i]);
        return static_cast<double>(sum);
      });
      const double object = block.largest(width, [&](Index i) {
        return static_cast<double>(
            norm(flight.object[of.under(of.placement(slot), static_cast<std::uint32_t>(from + i))]));
      });
      block.once([&] {
        flight.partial[piece * fit_sums] = light;
        flight.partial[piece * fit_sums + 1] = object;
      });
    }
  }
};

/// The same of each pattern, (slots, 2). One thread block.
struct LargestOfSlots {
  Layout of;
  const double* partial = nullptr;
  double* by_slot = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    if (block.index() != 0) return;
    block.each(2 * of.now->count, [&](Index i) {
      const Index slot = i / 2, k = i % 2;
      double most = 0;
      for (Index s = 0; s < of.strips(); ++s) most = larger(most, partial[(slot * of.strips() + s) * fit_sums + k]);
      by_slot[i] = most;
    });
  }
};

/// How an update is divided (model/pattern_kernels.h, Division), its largest light apart.
template <class Real>
struct Divided {
  Real step = 0, alpha = 1;

  [[nodiscard]] SONDE_DEVICE Real by(Real light, Real largest) const {
    return step / ((1 - alpha) * light + alpha * largest);
  }
};

/// The update of a slice under each pattern, inside a box of its window, and in the waves what goes on before the
/// slice:
///   next = O + sum_m conj(incident_m) chi_m / d_o,  chi_m = conj(O) chi_m / d_p.
/// All see the same O; boxes of one batch do not overlap, so each element of `next` has one writer.
template <class Real>
struct UpdateUnder {
  Flight<Real> flight;
  Divided<Real> of_object, of_probe;
  bool with_object = true;
  const Box* box = nullptr;       // in memory, since it changes from iteration to iteration
  Complex<Real>* next = nullptr;  // of the slice
  Real* phase = nullptr;          // of the slice; null: the object is complex

  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return flight.of.slots * flight.of.strips(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Layout& of = flight.of;
    const Index strips = of.strips(), pixels = of.pixels();
    for (Index piece = block.index(); piece < of.now->count * strips; piece += block.count()) {
      const Index slot = piece / strips, from = piece % strips * strip;
      block.each(lesser(strip, pixels - from), [&](Index i) { update(slot, static_cast<std::uint32_t>(from + i)); });
    }
  }

 private:
  SONDE_DEVICE void update(Index slot, std::uint32_t pixel) const {
    const Layout& of = flight.of;
    const Index under = of.under(of.placement(slot), pixel);
    const Complex<Real> o = flight.object[under];
    const Real most_light = static_cast<Real>(flight.by_slot[2 * slot]);
    const Real most_object = static_cast<Real>(flight.by_slot[2 * slot + 1]);
    const Real to_probe = of_probe.by(norm(o), most_object);
    Complex<Real> sum{0, 0};
    Real light = 0;
    for (Index m = 0; m < of.modes; ++m) {
      const Complex<Real> p = flight.incident.waves[slot * flight.incident.stride + m * of.pixels() + pixel];
      Complex<Real>& chi = flight.waves[of.wave(slot, m) + pixel];
      light += norm(p);
      add_to(sum, product(conjugate(p), chi));
      chi = scaled(to_probe, product(conjugate(o), chi));
    }
    const Index row = of.row_of(pixel) - box->row, col = of.col_of(pixel) - box->col;
    if (!with_object || row < 0 || row >= box->rows || col < 0 || col >= box->cols) return;
    Complex<Real> updated = o;
    add_to(updated, scaled(of_object.by(light, most_light), sum));
    if (phase == nullptr) {
      next[under] = updated;
      return;
    }
    // Only the step of the phase: the imaginary part of conj(O) dO.
    phase[under] += product(conjugate(o), updated).im;
    next[under] = {std::cos(phase[under]), std::sin(phase[under])};
  }
};

/// The boxes under all members of a batch, from the updated object to the one that the next batch sees.
template <class Real>
struct CommitBoxes {
  Layout of;  // of which the group in flight is the last of its batch
  const Box* box = nullptr;
  const Complex<Real>* next = nullptr;  // (slices, object rows, object cols)
  Complex<Real>* object = nullptr;

  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return of.slots * of.slices * of.strips(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index area = box->rows * box->cols, strips = strips_of(area);
    for (Index piece = block.index(); piece < of.now->members * of.slices * strips; piece += block.count()) {
      const Index member = piece / (of.slices * strips), slice = piece / strips % of.slices;
      const Index from = piece % strips * strip;
      const Placement& at = of.placements[of.order[of.now->batch + member]];
      const Index corner = (slice * of.object_rows + at.row + box->row) * of.object_cols + at.col + box->col;
      block.each(lesser(strip, area - from), [&](Index i) {
        const Index row = (from + i) / box->cols, col = (from + i) % box->cols;
        object[corner + row * of.object_cols + col] = next[corner + row * of.object_cols + col];
      });
    }
  }
};

/// Counts the updates since the last kick: zero when this one is followed by a kick. One thread block.
struct CountUpdate {
  Index every = 1;
  Index* updates = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    block.once([&] { *updates = *updates + 1 < every ? *updates + 1 : 0; });
  }
};

/// When it is time: v = friction v + (O - O before these updates), O += strength v, of all slices.
template <class Real>
struct Kick {
  const Index* updates = nullptr;
  Real friction = 0, strength = 0;
  Index count = 0;
  Complex<Real>*velocity = nullptr, *before = nullptr;
  Complex<Real>*object = nullptr, *next = nullptr;  // next: the copy that the next batch changes

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    if (*updates != 0) return;
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count())
      block.each(lesser(strip, count - piece * strip), [&](Index i) {
        const Index at = piece * strip + i;
        const Complex<Real> old = before[at];
        Complex<Real> v = scaled(friction, velocity[at]), o = object[at];
        add_to(v, {o.re - old.re, o.im - old.im});
        add_to(o, scaled(strength, v));
        velocity[at] = v;
        object[at] = next[at] = before[at] = o;
      });
  }
};

/// At the beginning of an iteration, and once more at its end: `before` is how far the object is from it in between,
/// since what constraints do to the object is no movement.
template <class Real>
struct ExchangeBefore {
  Index count = 0;
  const Complex<Real>* object = nullptr;
  Complex<Real>* before = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count())
      block.each(lesser(strip, count - piece * strip), [&](Index i) {
        const Index at = piece * strip + i;
        before[at] = {object[at].re - before[at].re, object[at].im - before[at].im};
      });
  }
};

/// P += the mean of what the members of a batch change it by.
template <class Real>
struct MeanStep {
  const Complex<Real>* sum = nullptr;
  const Group* now = nullptr;  // of that batch
  Index count = 0;
  Complex<Real>* probe = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Real share = Real(1) / static_cast<Real>(now->members);
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count())
      block.each(lesser(strip, count - piece * strip),
                 [&](Index i) { add_to(probe[piece * strip + i], scaled(share, sum[piece * strip + i])); });
  }
};

}  // namespace sonde::ptycho::device
