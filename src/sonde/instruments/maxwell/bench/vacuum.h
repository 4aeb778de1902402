// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <span>

#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell {

inline constexpr Index vacuum_layer = 10;

/// Vacuum with layers inside of `cells` along each axis: ten cells in the speed models of gprMax; 0: walls only.
[[nodiscard]] Problem vacuum(Mode mode, int order, Index cells, Index layer = vacuum_layer);
/// A source of Ey a third along each axis, which is recorded too.
[[nodiscard]] Acquisition one_source(const Problem& problem);

/// Of two records of the same run: the largest difference over the largest value.
[[nodiscard]] double record_difference(std::span<const double> a, std::span<const double> b);

}  // namespace sonde::maxwell
