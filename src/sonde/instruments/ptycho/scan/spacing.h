// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// How far the places of a scan of any kind lie apart, in the unit of the points. Positions that repeat count once.
struct Spacing {
  Index places = 0;     ///< that differ
  double nearest = 0;   ///< median distance of a place to the nearest other: the shorter step of a raster
  double across = 0;    ///< the same in directions 45 degrees and more off that one: the longer step of a raster
  double widest = 0;    ///< the largest distance of a place to the nearest other
  Index loneliest = 0;  ///< which position that is
};

/// Whether work ends when the user asks for it; not where the result of an interrupted run is written.
enum class Interruption { looked_for, ignored };

/// All are 0 for fewer than two places; `across` is `nearest` where all lie on a line. Throws Error(bad_input) for
/// positions that are not finite. About 1 us per point; above
/// 2^18 places `across` is the median of an even share of them.
[[nodiscard]] Spacing spacing_of(std::span<const Point> positions, Interruption interruption = Interruption::ignored);

}  // namespace sonde::ptycho
