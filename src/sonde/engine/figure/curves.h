// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/chart.h"

namespace sonde {

/// One pair of linear axes with its lines and points as a picture, u8 (rows, cols, 3), for a place in a montage; a
/// chart in a file of its own is write_chart()'s, which has bars, error bars and logarithms too. Names of series stand
/// in the upper right, upright reference lines carry their labels. Values that are not finite interrupt a line. Throws
/// Error(bad_input) below 120 x 160 pixels, for series whose parts differ in length, and when no value is finite.
[[nodiscard]] Array render_facet(const Facet& facet, Index rows, Index cols);

}  // namespace sonde
