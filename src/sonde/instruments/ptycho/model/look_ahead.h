// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// Calls announce(frames) with frames that come up after place `at` of `order`, so that what lies on a disk is read
/// while those before are worked on. To be called for every place in turn; each frame is announced about sixteen
/// places ahead, four at a time, the first ones at the beginning.
template <class Announce>
void look_ahead(std::span<const Index> order, Index at, Announce&& announce) {
  constexpr Index distance = 16, together = 4;
  if (at % together != 0) return;
  const auto count = static_cast<Index>(order.size());
  const Index first = std::min(at == 0 ? 1 : at + distance, count), last = std::min(at + distance + together, count);
  if (first < last) announce(order.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
}

/// So many frames of a batch are asked for before it begins; of a longer one the rest on its way, by look_ahead().
inline constexpr Index most_announced = 64;

/// Calls announce(frames) with the part of the `next` batch, or of its beginning, that place `at` is of the `count`
/// places of the present one. To be called for every place, on whatever thread works on it: even asking for a frame
/// that lies on a disk costs a third of what working on one does, too much for one thread while the others wait.
template <class Announce>
void announce_next(std::span<const Index> next, Index at, Index count, Announce&& announce) {
  const Index frames = std::min(static_cast<Index>(next.size()), most_announced);
  const Index first = at * frames / count, last = (at + 1) * frames / count;
  if (first < last) announce(next.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
}

}  // namespace sonde::ptycho
