// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// A scan whose positions lie evenly on straight lines: position (i, j) is origin + i down + j across, in A, in the
/// frame of the detector. Frames are counted line after line.
struct ScanLattice {
  Index rows = 0, cols = 0;
  Point origin;        ///< A, of frame 0
  Point down, across;  ///< A, from line to line and from frame to frame

  [[nodiscard]] Index count() const { return rows * cols; }
  /// The spatial frequency (1/A) of index (1, 0) and (0, 1) of the scan's transform: frequency (u, v) is u
  /// row_frequency
  /// + v col_frequency, so that q.(i down + j across) = u i / rows + v j / cols.
  [[nodiscard]] Point row_frequency() const;
  [[nodiscard]] Point col_frequency() const;
  /// Turned by `angle` (rad) about the middle of the scan, in the sense of Raster.
  [[nodiscard]] ScanLattice turned(double angle) const;
  [[nodiscard]] std::vector<Point> positions() const;  ///< A
};

/// Lines and frames of a raster, when only positions are known.
struct LatticeShape {
  Index rows = 0, cols = 0;
};

/// The lattice that fits positions (object pixels, scan order) best. Without a shape the first frame that leaves the
/// first line shows it. Throws Error(not_supported) without a calibration, Error(bad_input) for positions that lie
/// further than a tenth of a step from any lattice (naming the worst frame) and for scans of fewer than 4 x 4
/// positions.
[[nodiscard]] ScanLattice scan_lattice(std::span<const Point> positions_px, std::optional<LatticeShape> shape,
                                       const Sampling& sampling);

}  // namespace sonde::ptycho
