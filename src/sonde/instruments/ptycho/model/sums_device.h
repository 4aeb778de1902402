// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the patterns of a group say about object and probe. Every element of a sum belongs to one
// thread, which asks the patterns in their order: no atomic additions, the same bits in every run. The CPU's twins are
// in update_cpu.cpp and batch_pass.cpp.
#pragma once

#include "sonde/instruments/ptycho/model/waves_device.h"

namespace sonde::ptycho::device {

/// numerator += sum_j sum_m conj(incident) chi and weight += sum_j sum_m |incident|^2 at every element of a slice;
/// the first group of a batch sets them. A thread block has a tile of the object and first finds the patterns that
/// touch it.
template <class Real>
struct GatherObject {
  static constexpr Index tile = 32;

  Layout of;
  Incident<Real> incident;
  const Complex<Real>* chi = nullptr;
  Complex<Real>* numerator = nullptr;  // (object rows, object cols)
  Real* weight = nullptr;              // may be null

  /// A pattern that touches the tile, and where its window begins.
  struct Seen {
    std::uint32_t slot;
    std::int32_t row, col;
  };

  [[nodiscard]] SONDE_HOST_DEVICE Index tiles_across() const { return (of.object_cols + tile - 1) / tile; }
  [[nodiscard]] SONDE_HOST_DEVICE Index pieces() const { return (of.object_rows + tile - 1) / tile * tiles_across(); }
  [[nodiscard]] std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(of.slots) * (sizeof(Seen) + 1) + sizeof(std::uint32_t);
  }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    auto* seen = reinterpret_cast<Seen*>(block.scratch());
    auto* count = reinterpret_cast<std::uint32_t*>(seen + of.slots);
    auto* touches = reinterpret_cast<std::uint8_t*>(count + 1);
    for (Index piece = block.index(); piece < pieces(); piece += block.count()) {
      const Index row = piece / tiles_across() * tile, col = piece % tiles_across() * tile;
      block.each(of.now->count, [&](Index slot) {
        const Placement& at = of.placement(slot);
        touches[slot] = at.row < row + tile && at.row + of.rows > row && at.col < col + tile && at.col + of.cols > col;
      });
      block.once([&] {
        std::uint32_t found = 0;
        for (Index slot = 0; slot < of.now->count; ++slot)
          if (touches[slot] != 0)
            seen[found++] = {static_cast<std::uint32_t>(slot), static_cast<std::int32_t>(of.placement(slot).row),
                             static_cast<std::int32_t>(of.placement(slot).col)};
        *count = found;
      });
      block.each(tile * tile, [&](Index i) {
        if (row + i / tile < of.object_rows && col + i % tile < of.object_cols)
          element(row + i / tile, col + i % tile, seen, *count);
      });
    }
  }

 private:
  SONDE_DEVICE void element(Index row, Index col, const Seen* seen, std::uint32_t count) const {
    Complex<Real> sum{0, 0};
    Real light = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      const Index r = row - seen[k].row, c = col - seen[k].col;
      if (r < 0 || r >= of.rows || c < 0 || c >= of.cols) continue;
      const Index pixel = r * of.cols + c, slot = seen[k].slot;
      for (Index m = 0; m < of.modes; ++m) {
        const Complex<Real> p = incident.waves[slot * incident.stride + m * of.pixels() + pixel];
        add_to(sum, product(conjugate(p), chi[of.wave(slot, m) + pixel]));
        light += norm(p);
      }
    }
    const Index to = row * of.object_cols + col;
    const bool opens = of.now->opens != 0;
    if (!opens) add_to(sum, numerator[to]);
    numerator[to] = sum;
    if (weight != nullptr) weight[to] = opens ? light : light + weight[to];
  }
};

/// sum += sum_j waves at every pixel of every mode. With ramps the waves are spectra and each is shifted back first.
template <class Real>
struct GatherProbe {
  Layout of;
  const Complex<Real>* waves = nullptr;
  const Complex<Real>* ramps = nullptr;  // null: no shift
  Complex<Real>* sum = nullptr;          // (modes, rows, cols)

  [[nodiscard]] Index pieces() const { return of.modes * of.strips(); }

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < of.modes * of.strips(); piece += block.count()) {
      const Index mode = piece / of.strips(), from = piece % of.strips() * strip;
      block.each(lesser(strip, of.pixels() - from), [&](Index i) {
        const auto pixel = static_cast<std::uint32_t>(from + i);
        Complex<Real> total{0, 0};
        for (Index slot = 0; slot < of.now->count; ++slot) {
          const Complex<Real> wave = waves[of.wave(slot, mode) + pixel];
          add_to(total, ramps == nullptr ? wave : product(conjugate(ramp_at(of, ramps, slot, pixel)), wave));
        }
        Complex<Real>& to = sum[mode * of.pixels() + pixel];
        if (of.now->opens == 0) add_to(total, to);
        to = total;
      });
    }
  }
};

/// weight += sum_j |O_j|^2 of the first slice, in the probe's window.
template <class Real>
struct GatherProbeWeight {
  Layout of;
  const Complex<Real>* object = nullptr;
  Real* weight = nullptr;  // (rows, cols)

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < of.strips(); piece += block.count()) {
      const Index from = piece * strip;
      block.each(lesser(strip, of.pixels() - from), [&](Index i) {
        const auto pixel = static_cast<std::uint32_t>(from + i);
        Real total = 0;
        for (Index slot = 0; slot < of.now->count; ++slot) total += norm(object[of.under(of.placement(slot), pixel)]);
        weight[pixel] = of.now->opens == 0 ? weight[pixel] + total : total;
      });
    }
  }
};

/// waves *= scale: the whole of an array.
template <class Real>
struct Scale {
  Complex<Real>* waves = nullptr;
  Index count = 0;
  Real scale = 1;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count())
      block.each(lesser(strip, count - piece * strip),
                 [&](Index i) { waves[piece * strip + i] = scaled(scale, waves[piece * strip + i]); });
  }
};

/// The bits of a number that is not negative: ordered like the numbers, so that integers can be compared instead.
SONDE_DEVICE inline std::uint64_t ordered_bits(double number) { return __builtin_bit_cast(std::uint64_t, number); }
SONDE_DEVICE inline double number_of(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }

/// The largest element of a plane, as ordered bits; `largest` is zero before.
template <class Real>
struct LargestWeight {
  const Real* weight = nullptr;
  Index count = 0;
  std::uint64_t* largest = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count()) {
      const double most = block.largest(lesser(strip, count - piece * strip),
                                        [&](Index i) { return static_cast<double>(weight[piece * strip + i]); });
      block.once([&] { shared_max(largest, ordered_bits(most)); });
    }
  }
};

}  // namespace sonde::ptycho::device
