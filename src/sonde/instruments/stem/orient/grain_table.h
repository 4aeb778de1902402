// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/orient/grains.h"
#include "sonde/instruments/stem/orient/zone_sector.h"

namespace sonde::stem {

/// Where the positions of a scan are, for areas.
struct ScanSteps {
  double row = 0, col = 0;  ///< nm; 0: not known
  [[nodiscard]] bool known() const { return row > 0 && col > 0; }
};

/// A row for each grain, the largest first: its number, of several crystals that of its crystal, positions, area (nm^2,
/// where steps are known), mean place, the direction of the beam among equal ones, Euler angles of Bunge, spread and
/// standard error of its mean (degrees).
[[nodiscard]] Value grain_table(const GrainMap& map, const std::vector<ZoneSector>& sectors, const ScanSteps& steps);

/// grains/matrix (grain, 3, 3), of several crystals phase, positions, area, place (grain, 2), zone (grain, 3), spread
/// and standard_error of every grain; nothing where there is none.
void add_grains(Contents& contents, const GrainMap& map, const std::vector<ZoneSector>& sectors,
                const ScanSteps& steps);

/// Grains in the colours of their mean directions, u8 (rows * zoom, cols * zoom, 3), with black lines between
/// positions of different ones where `zoom` leaves room for them (3 or more); what is in no grain is `not_finite`.
[[nodiscard]] Array draw_grains(const GrainMap& map, Index rows, Index cols, const std::vector<ZoneSector>& sectors,
                                Index zoom);

}  // namespace sonde::stem
