// SPDX-License-Identifier: Apache-2.0
// Private to the instrument: what kernels of a GPU share, as templates over the thread block (engine/device/team.h):
// which patterns are in flight, complex numbers, and how a body is run on a stream's device. A body that is run on the
// CPU is played by one thread, which is there for tests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sonde/engine/base/small_float.h"
#include "sonde/engine/device/run_body.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho::device {

/// A complex number that is read and written in one access; in memory it is a std::complex.
template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;
};
template <class Real>
SONDE_DEVICE inline Complex<Real> product(Complex<Real> a, Complex<Real> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class Real>
SONDE_DEVICE inline Complex<Real> conjugate(Complex<Real> a) {
  return {a.re, -a.im};
}
template <class Real>
SONDE_DEVICE inline Complex<Real> scaled(Real factor, Complex<Real> a) {
  return {factor * a.re, factor * a.im};
}
template <class Real>
SONDE_DEVICE inline Real norm(Complex<Real> a) {
  return a.re * a.re + a.im * a.im;
}
template <class Real>
SONDE_DEVICE inline void add_to(Complex<Real>& sum, Complex<Real> a) {
  sum.re += a.re;
  sum.im += a.im;
}

/// Patterns that are worked on together: members [first, first + count) of an iteration's order.
struct Group {
  Index first = 0, count = 0;
  Index opens = 1;    ///< 1: the first of its batch, whose sums begin with it
  Index batch = 0;    ///< where the order has the first member of the batch,
  Index members = 0;  ///< and how many there are
  Index groups = 1;   ///< into how many groups the batch is cut
};

/// A thread block's share of a wave or a plane: 256 threads with eight pixels each.
inline constexpr Index strip = 2048;
SONDE_HOST_DEVICE constexpr Index strips_of(Index pixels) { return (pixels + strip - 1) / strip; }
SONDE_HOST_DEVICE constexpr Index lesser(Index a, Index b) { return a < b ? a : b; }

/// What all kernels of a pass know. All that changes from group to group lies in memory that they read, so that the
/// kernels can be recorded once (engine/device/graph.h). Windows have fewer than 2^31 pixels.
struct Layout {
  Index rows = 0, cols = 0, modes = 1, slices = 1;
  Index object_rows = 0, object_cols = 0;
  Index slots = 0;                        ///< patterns of the largest group
  const Group* now = nullptr;             ///< the group in flight; pattern i of it is in slot i
  const Index* order = nullptr;           ///< frames, batch after batch
  const Placement* placements = nullptr;  ///< of every frame

  [[nodiscard]] SONDE_HOST_DEVICE Index pixels() const { return rows * cols; }
  [[nodiscard]] SONDE_HOST_DEVICE Index strips() const { return strips_of(pixels()); }
  [[nodiscard]] SONDE_HOST_DEVICE Index frame(Index slot) const { return order[now->first + slot]; }
  [[nodiscard]] SONDE_HOST_DEVICE const Placement& placement(Index slot) const { return placements[frame(slot)]; }
  /// Thread blocks that each take a strip of a wave.
  [[nodiscard]] SONDE_HOST_DEVICE Index wave_pieces() const { return slots * modes * strips(); }

  /// body(slot, mode, pixel) for every pixel of every wave in flight.
  template <class Block, class Body>
  SONDE_DEVICE void each_pixel(Block& block, Body&& body) const {
    const Index all = now->count * modes * strips();
    for (Index piece = block.index(); piece < all; piece += block.count()) {
      const Index wave = piece / strips(), from = piece % strips() * strip;
      const Index slot = wave / modes, mode = wave % modes;
      block.each(lesser(strip, pixels() - from),
                 [&](Index i) { body(slot, mode, static_cast<std::uint32_t>(from + i)); });
    }
  }
  [[nodiscard]] SONDE_HOST_DEVICE Index wave(Index slot, Index mode) const { return (slot * modes + mode) * pixels(); }
  [[nodiscard]] SONDE_HOST_DEVICE Index row_of(std::uint32_t pixel) const {
    return pixel / static_cast<std::uint32_t>(cols);
  }
  [[nodiscard]] SONDE_HOST_DEVICE Index col_of(std::uint32_t pixel) const {
    return pixel % static_cast<std::uint32_t>(cols);
  }
  /// The object's element under a pixel of a window.
  [[nodiscard]] SONDE_HOST_DEVICE Index under(const Placement& at, std::uint32_t pixel) const {
    return (at.row + row_of(pixel)) * object_cols + at.col + col_of(pixel);
  }
};

/// Goes on to the next group of a list. One thread block.
struct NextGroup {
  const Group* list = nullptr;
  Index* cursor = nullptr;
  Group* now = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    block.once([&] { *now = list[(*cursor)++]; });
  }
};

/// Goes back to before the first group of the batch whose last one is in flight. One thread block.
struct BatchAgain {
  const Group* now = nullptr;
  Index* cursor = nullptr;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    block.once([&] { *cursor -= now->groups; });
  }
};

}  // namespace sonde::ptycho::device

namespace sonde::ptycho {
/// Queues a body to a stream.
template <class Body>
void run_on(Stream& stream, Index blocks, const Body& body, std::size_t scratch_bytes = 0) {
  LaunchSize size;
  size.blocks = blocks;
  size.scratch_bytes = scratch_bytes;
  sonde::run_on(stream, size, body);
}
}  // namespace sonde::ptycho
