// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/stem/read/acquisition.h"
#include "sonde/instruments/stem/read/scan_shape.h"

namespace sonde::stem {

/// A scan whose positions were visited in another order than row by row.
struct VisitedScan {
  Index rows = 0, cols = 0;
  std::vector<Index> frame_of;  ///< stored frame of position row * cols + col; a permutation
};

/// What the programs of Direct Electron write beside NAME_movie.mrc: NAME_info.txt and, for scans that are no raster,
/// NAME_scan_coordinates.csv.
struct DeMovie {
  std::map<std::string, std::string> metadata;  ///< the lines "key = value"
  Calibration calibration;                      ///< high tension, camera length, scan steps
  std::optional<StatedGrid> grid;               ///< of a raster scan
  std::optional<VisitedScan> visited;           ///< of other scans whose positions fill a grid
  std::string unordered;                        ///< the list of positions, when they fill no grid; else empty
  std::vector<Choice<std::string>> notes;
};

/// Nothing when there is no info file beside the movie. Throws Error(bad_file) for damaged files.
[[nodiscard]] std::optional<DeMovie> read_de_movie(const std::string& mrc_path, Index frames);

/// Lines "key = value"; other lines are left out.
[[nodiscard]] std::map<std::string, std::string> parse_de_info(const std::string& text);

/// Lines "x,y", one per frame, as a scan: the distinct values of x are its columns, those of y its rows. Nothing when
/// the positions do not fill such a grid exactly once. Throws Error(bad_file) for lines that are no two whole numbers.
[[nodiscard]] std::optional<VisitedScan> parse_scan_coordinates(const std::string& text, const std::string& name);

}  // namespace sonde::stem
