// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/separate/network/layers.h"

namespace sonde::separate {

/// Where each value of a layer list is in one piece of memory, in numbers from its start.
struct ValuePlaces {
  std::vector<Index> first;
  Index count = 0;  ///< of the whole piece
};

/// Values that are not needed at the same time share memory, and the output of a layer that adds takes the place of
/// what it is added to, which no later layer reads. `share` false: every value has a place of its own, but for those.
[[nodiscard]] ValuePlaces place_values(const LayerList& list, bool share);

}  // namespace sonde::separate
