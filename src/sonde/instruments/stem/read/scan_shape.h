// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/read/acquisition.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// Rows and columns of a scan, as some place says them.
struct StatedGrid {
  Index rows = 0, cols = 0;
  Index prescan = 0;   ///< frames before every row that may have been stored as well
  std::string source;  ///< who says so: "attribute scan_shape of /entry/data"
};

/// Everything that can decide the shape of a scan.
struct ScanFacts {
  Index frames = 0;                     ///< stored frames
  std::optional<StatedGrid> attribute;  ///< stored beside the frames
  std::optional<StatedGrid> sidecar;    ///< of the microscope
  std::optional<Index> ntrigger, nimages;
};

/// The stored grid, before transposition and flips. A row holds `prescan` frames that are dropped, then `cols`.
struct ScanShape {
  Index rows = 0, cols = 0, prescan = 0;
  std::string because;
};

/// Applies the first rule that fits: (1) the user, (2) an attribute, (3) the sidecar, with or without its prescan
/// columns, (4) ntrigger x nimages, (5) a square, (6) Error(bad_input) that lists pairs of factors. A shape that needs
/// more frames than there are is an Error(bad_file) unless incomplete scans are allowed; one that needs fewer, unless
/// extra frames are dropped. A pure function.
[[nodiscard]] ScanShape choose_scan_shape(const ScanFacts& facts, const ReadOptions& options);

/// The order of frames for such a grid with the orientation that the user asked for.
[[nodiscard]] ScanOrder scan_order(const ScanShape& shape, const ReadOptions& options);

}  // namespace sonde::stem
