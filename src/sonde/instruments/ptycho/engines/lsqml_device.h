// SPDX-License-Identifier: Apache-2.0
// Private to the room: least-squares steps by the threads of a GPU (engine/device/team.h), and what they share with the
// CPU's loops. The CPU's twins are in lsqml.cpp, model/update_cpu.cpp and model/detector_cpu.cpp.
#pragma once

#include <cmath>

#include "sonde/instruments/ptycho/model/step_sums.h"
#include "sonde/instruments/ptycho/model/sums_device.h"

namespace sonde::ptycho::device {

/// How far one frame wants to go along the object's direction and along the probe's; not a number without light.
struct BestSteps {
  double object, probe;
};
/// A tenth of the batch's mean keeps frames with little light from large steps.
SONDE_HOST_DEVICE inline BestSteps best_steps(const StepSums& own, double mean_xx, double mean_yy, bool object_free,
                                              bool probe_free) {
  const double xx = own.xx + 0.1 * mean_xx, yy = own.yy + 0.1 * mean_yy;
  if (object_free && probe_free) {
    const double determinant = xx * yy - own.xy * own.xy;
    return {(yy * own.chi_x - own.xy * own.chi_y) / determinant, (xx * own.chi_y - own.xy * own.chi_x) / determinant};
  }
  return {object_free ? own.chi_x / xx : 0, probe_free ? own.chi_y / yy : 0};
}

/// One in so many of the smallest, and of the largest, steps does not count.
inline constexpr Index trimmed = 10;
/// Rounds of a fixed point that is reached quadratically.
inline constexpr int poisson_rounds = 4;

/// The share of chi at which the likelihood of each pattern is largest (cpu::poisson_step), in the first of its two
/// numbers. The waves are the far field. A thread block has a pattern.
template <class Real>
struct PoissonShare {
  Flight<Real> flight;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Layout& of = flight.of;
    for (Index slot = block.index(); slot < of.now->count; slot += block.count()) {
      const Index pattern = flight.patterns.by_slot ? slot : of.frame(slot);
      Real share = Real(0.5);  // the answer where model and counts are close
      for (int round = 0; round < poisson_rounds; ++round) {
        double found[2];
        block.template sums<2>(of.pixels(), found, [&](Index pixel, double(&sums)[2]) {
          Real model = 0;
          for (Index m = 0; m < of.modes; ++m) model += norm(flight.waves[of.wave(slot, m) + pixel]);
          model *= flight.scale;
          const Real a = flight.patterns.template amplitude<Real>(pattern * of.pixels() + pixel), counts = a * a;
          const Real w = flight.weights == nullptr ? Real(1) : flight.weights[pixel];
          const Real xi = 1 - counts / (model + flight.eps);
          // Without counts xi is 1, and so may be the share.
          const Real rest = counts > 0 ? counts / (1 - share * xi) : Real(0);
          sums[0] += static_cast<double>(w * xi * (model - rest));
          sums[1] += static_cast<double>(w * xi * xi * model);
        });
        if (!(found[1] > 0)) break;  // a perfect fit
        const Real next = (share + static_cast<Real>(found[0] / found[1])) / 2;
        share = next < 0 ? Real(0) : next > 1 ? Real(1) : next;
      }
      block.once([&] { flight.by_slot[2 * slot] = static_cast<double>(share); });
    }
  }
};

/// The waves of a batch as they are kept: (members, modes, rows, cols).
SONDE_DEVICE inline Index of_member(const Layout& of, Index slot, Index mode, Index pixel) {
  return ((of.now->first - of.now->batch + slot) * of.modes + mode) * of.pixels() + pixel;
}

/// chi = waves.
template <class Real>
struct KeepChi {
  Layout of;
  const Complex<Real>* waves = nullptr;
  Complex<Real>* chi = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      chi[of_member(of, slot, mode, pixel)] = waves[of.wave(slot, mode) + pixel];
    });
  }
};

/// waves = chi.
template <class Real>
struct TakeChi {
  Layout of;
  const Complex<Real>* chi = nullptr;
  Complex<Real>* waves = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    of.each_pixel(block, [&](Index slot, Index mode, std::uint32_t pixel) {
      waves[of.wave(slot, mode) + pixel] = chi[of_member(of, slot, mode, pixel)];
    });
  }
};

/// Sums of a batch become a direction: sum / sqrt(w^2 + (damping max w)^2). With an object, which is then a phase's,
/// the part of it along i O stays, the only part that moves a phase.
template <class Real>
struct Direct {
  const Real* weight = nullptr;            // (elements) for every plane
  const std::uint64_t* largest = nullptr;  // of the weight, as ordered bits
  double damping = 0;
  Index planes = 1, elements = 0;
  const Complex<Real>* object = nullptr;  // of a potential, else null
  Complex<Real>* sum = nullptr;           // (planes, elements)

  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return planes * strips_of(elements); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const double floor = damping * number_of(*largest);
    const Real floor2 = static_cast<Real>(floor * floor);
    for (Index piece = block.index(); piece < pieces(); piece += block.count()) {
      const Index plane = piece / strips_of(elements), from = piece % strips_of(elements) * strip;
      block.each(lesser(strip, elements - from), [&](Index i) {
        const Real w = weight[from + i], divisor = std::sqrt(w * w + floor2);
        const Index at = plane * elements + from + i;
        const Complex<Real> divided{sum[at].re / divisor, sum[at].im / divisor};
        sum[at] = object == nullptr ? divided : along_phase(object[at], divided);
      });
    }
  }

 private:
  SONDE_DEVICE static Complex<Real> along_phase(Complex<Real> o, Complex<Real> direction) {
    const Real turn = product(conjugate(o), direction).im;
    return {-turn * o.im, turn * o.re};
  }
};

/// StepSums of each strip of each pattern, at a slice: x = dO incident and, with a direction of the probe, y = O dP.
/// The waves are chi behind the slice.
template <class Real>
struct SumAlong {
  Flight<Real> flight;
  const Complex<Real>* toward = nullptr;  // dO of the slice
  bool with_probe = false;

  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return flight.of.slots * flight.of.strips(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    static_assert(fit_sums == 5);
    const Layout& of = flight.of;
    const Index strips = of.strips(), pixels = of.pixels();
    for (Index piece = block.index(); piece < of.now->count * strips; piece += block.count()) {
      const Index slot = piece / strips, from = piece % strips * strip;
      double found[fit_sums];
      block.template sums<fit_sums>(lesser(strip, pixels - from), found, [&](Index i, double(&sums)[fit_sums]) {
        const auto pixel = static_cast<std::uint32_t>(from + i);
        const Index under = of.under(of.placement(slot), pixel);
        for (Index m = 0; m < of.modes; ++m) {
          const Index at = m * pixels + pixel;
          const Complex<Real> chi = flight.waves[of.wave(slot, 0) + at];
          const Complex<Real> x = product(toward[under], flight.incident.waves[slot * flight.incident.stride + at]);
          Complex<Real> y{0, 0};
          if (with_probe) y = product(flight.object[under], flight.brought.waves[slot * flight.brought.stride + at]);
          sums[0] += static_cast<double>(norm(x));
          sums[1] += static_cast<double>(norm(y));
          sums[2] += static_cast<double>(x.re * y.re + x.im * y.im);
          sums[3] += static_cast<double>(chi.re * x.re + chi.im * x.im);
          sums[4] += static_cast<double>(chi.re * y.re + chi.im * y.im);
        }
      });
      block.once([&] {
        for (int k = 0; k < fit_sums; ++k) flight.partial[piece * fit_sums + k] = found[k];
      });
    }
  }
};

/// StepSums of each member in flight from its strips, in their order. One thread block.
struct AlongOfMembers {
  Layout of;
  Index slice = 0;
  const double* partial = nullptr;
  double* along = nullptr;  // (members, slices, fit_sums)

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    if (block.index() != 0) return;
    block.each(of.now->count * fit_sums, [&](Index i) {
      const Index slot = i / fit_sums, k = i % fit_sums, strips = of.strips();
      const Index member = of.now->first - of.now->batch + slot;
      double sum = 0;
      for (Index s = 0; s < strips; ++s) sum += partial[(slot * strips + s) * fit_sums + k];
      along[(member * of.slices + slice) * fit_sums + k] = sum;
    });
  }
};

/// The steps of a batch: of every slice the mean of what its members want, without the largest and smallest tenth, and
/// of the probe the plain mean. One thread block.
struct ChooseSteps {
  const Group* now = nullptr;
  Index slices = 1;
  double share = 1;  // of the best step that is taken at each slice, by each mode
  double probe_share = 1;
  bool object_free = true, probe_free = true;
  const double* along = nullptr;                // (members, slices, fit_sums)
  double *wanted = nullptr, *sorted = nullptr;  // (members) each
  double* steps = nullptr;                      // of each slice, then of the probe

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    if (block.index() != 0) return;
    const Index members = now->members, cut = members / trimmed, kept = members - 2 * cut;
    for (Index slice = 0; slice < slices; ++slice) {
      double means[2];
      block.template sums<2>(members, means, [&](Index i, double(&sums)[2]) {
        for (int k = 0; k < 2; ++k) sums[k] += of(i, slice)[k] / static_cast<double>(members);
      });
      double probe[1];
      block.template sums<1>(members, probe, [&](Index i, double(&sums)[1]) {
        const double* own = of(i, slice);
        const BestSteps best = best_steps({own[0], own[1], own[2], own[3], own[4]}, means[0], means[1], object_free,
                                          probe_free && slice == 0);
        wanted[i] = best.object > 0 ? share * best.object : 0;
        if (best.probe > 0) sums[0] += probe_share * best.probe / static_cast<double>(members);
      });
      // Each finds its own place: batches are small.
      block.each(members, [&](Index i) {
        Index before = 0;
        for (Index j = 0; j < members; ++j)
          if (wanted[j] < wanted[i] || (wanted[j] == wanted[i] && j < i)) ++before;
        sorted[before] = wanted[i];
      });
      double total[1];
      block.template sums<1>(kept, total, [&](Index i, double(&sums)[1]) { sums[0] += sorted[cut + i]; });
      block.once([&] {
        steps[slice] = total[0] / static_cast<double>(kept);
        if (slice == 0) steps[slices] = probe[0];
      });
    }
  }

 private:
  SONDE_DEVICE const double* of(Index member, Index slice) const {
    return along + (member * slices + slice) * fit_sums;
  }
};

/// target += step direction; with a phase it is the phase that moves, and the target is exp(i phase).
template <class Real>
struct FollowDirection {
  const Complex<Real>* direction = nullptr;
  const double* step = nullptr;
  Index count = 0;
  Complex<Real>* target = nullptr;
  Real* phase = nullptr;  // may be null

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Real by = static_cast<Real>(*step);
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count())
      block.each(lesser(strip, count - piece * strip), [&](Index i) { follow(piece * strip + i, by); });
  }

 private:
  SONDE_DEVICE void follow(Index at, Real by) const {
    if (phase == nullptr) {
      add_to(target[at], scaled(by, direction[at]));
      return;
    }
    phase[at] += by * product(conjugate(target[at]), direction[at]).im;
    target[at] = {std::cos(phase[at]), std::sin(phase[at])};
  }
};

}  // namespace sonde::ptycho::device
