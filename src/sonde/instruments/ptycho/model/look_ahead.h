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

}  // namespace sonde::ptycho
