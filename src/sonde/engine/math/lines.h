// SPDX-License-Identifier: Apache-2.0
// Private to the room: what transforms of lines have in common.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/run_body.h"
#include "sonde/engine/math/fft1d.h"
#include "sonde/engine/math/lines_device.h"
#include "sonde/engine/math/room.h"

namespace sonde {

inline void require_lines(const LineKey& key) {
  if (key.batch >= 1 && key.length >= 1 && key.length <= std::numeric_limits<std::int32_t>::max()) return;
  throw Error(ErrorKind::bad_input, fmt::format("no transform of {} lines of {} elements", key.batch, key.length));
}

template <class T>
void require_view(const Stream& stream, const LineKey& key, View<T, 2> lines, Index length) {
  if (lines.extent[0] != key.batch || lines.extent[1] != length)
    throw Error(ErrorKind::bad_input,
                fmt::format("a transform prepared for {} lines, here of {} elements, was given {} of {}", key.batch,
                            length, lines.extent[0], lines.extent[1]));
  if (stream.device() != key.device)
    throw Error(ErrorKind::internal, fmt::format("a transform prepared for {} was given a stream of {}",
                                                 key.device.name(), stream.device().name()));
}

/// A few lines of the host, each on a 64-byte boundary.
template <class T>
class LinesRoom {
 public:
  LinesRoom(Index lines, Index length)
      : pitch_((length + each - 1) / each * each), room_(std::max<Index>(lines * pitch_, 1)) {}
  [[nodiscard]] T* operator[](Index line) const { return room_.data() + line * pitch_; }

 private:
  static constexpr Index each = 64 / static_cast<Index>(sizeof(T));
  Index pitch_;
  Room<T> room_;
};

/// Of real lines and of their frequencies.
template <class Real>
struct RealLinesRoom {
  RealLinesRoom(Index lines, Index length) : real(lines, length), half(lines, length / 2 + 1) {}
  LinesRoom<Real> real;
  LinesRoom<std::complex<Real>> half;
};

/// Lines beside each other, columns of a matrix for instance, share lines of the cache: they come and go together.
template <class T>
[[nodiscard]] bool side_by_side(View<T, 2> lines) {
  return std::abs(lines.stride[0]) < std::abs(lines.stride[1]);
}

/// body(b, i) for b in [0, lines) and i in [0, length), in the order of memory.
template <class T, class Body>
void each_element(View<T, 2> in_memory, Index lines, Index length, Body&& body) {
  if (side_by_side(in_memory))
    for (Index i = 0; i < length; ++i)
      for (Index b = 0; b < lines; ++b) body(b, i);
  else
    for (Index b = 0; b < lines; ++b)
      for (Index i = 0; i < length; ++i) body(b, i);
}

template <class T>
void take(View<const T, 2> from, Index first, Index lines, const LinesRoom<T>& room) {
  each_element(from, lines, from.extent[1], [&](Index b, Index i) { room[b][i] = from(first + b, i); });
}
template <class T>
void give(const LinesRoom<T>& room, View<T, 2> to, Index first, Index lines) {
  each_element(to, lines, to.extent[1], [&](Index b, Index i) { to(first + b, i) = room[b][i]; });
}

/// body(rooms, first line, lines) for a few lines at a time, on all threads; rooms are Rooms(lines, length).
template <class Rooms, class Body>
void by_groups(const LineKey& key, bool beside, Body&& body) {
  constexpr Index most = 8;  // doubles that share a line of the cache
  const Index together = beside ? std::min(most, key.batch) : 1;
  // With fewer than some thousand elements a piece of a loop costs more than its work.
  const Index grain = std::max<Index>(1, 4096 / (key.length * together)) * together;
  parallel_for(key.batch, grain, [&](Index first, Index last, Worker&) {
    const Rooms rooms(together, key.length);
    for (Index b = first; b < last; b += together) body(rooms, b, std::min(together, last - b));
  });
}

/// Blocks of a GPU for so many elements.
[[nodiscard]] inline LaunchSize launch_for(Index elements) {
  LaunchSize size;
  size.blocks = device::pieces_of(elements);
  return size;
}

/// The same elements as kernels see them.
template <class Real>
[[nodiscard]] View<device::Pair<Real>, 2> pairs(View<std::complex<Real>, 2> lines) {
  View<device::Pair<Real>, 2> same(reinterpret_cast<device::Pair<Real>*>(lines.data), lines.extent[0], lines.extent[1]);
  std::copy(lines.stride, lines.stride + 2, same.stride);
  return same;
}
template <class Real>
[[nodiscard]] View<const device::Pair<Real>, 2> pairs(View<const std::complex<Real>, 2> lines) {
  View<const device::Pair<Real>, 2> same(reinterpret_cast<const device::Pair<Real>*>(lines.data), lines.extent[0],
                                         lines.extent[1]);
  std::copy(lines.stride, lines.stride + 2, same.stride);
  return same;
}

}  // namespace sonde
