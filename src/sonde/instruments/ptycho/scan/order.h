// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// The indices of the points along a Hilbert curve through the smallest square that holds them, divided into 2^16 x
/// 2^16 cells: neighbours in this order are neighbours on the specimen. Points of one cell keep their order, so the
/// result depends on nothing but the points. n log n.
[[nodiscard]] std::vector<Index> hilbert_order(std::span<const Point> points);

}  // namespace sonde::ptycho
