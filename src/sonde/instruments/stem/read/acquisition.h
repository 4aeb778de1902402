// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/correct/mask_bit.h"

namespace sonde::stem {

/// Who says a calibration value: the file of the scan, the caller, or a calibration file that the caller gave.
enum class StatedBy { file, user, calibration };

/// A calibration value in the unit its field names, and who says so. Absent values are never guessed.
struct Quantity {
  double value = 0;
  StatedBy stated_by = StatedBy::file;
};

/// What lenses make of a circle about the origin: an ellipse with semi-axes a and b (any common unit, only their ratio
/// counts), a along the angle `theta` from +x (columns) towards +y (rows), rad. Correcting it gives the circle of
/// `radius`: sqrt(a b) keeps areas, b is what py4DSTEM makes, whose pixel sizes belong to that.
struct Distortion {
  double a = 1, b = 1, theta = 0, radius = 1;
  StatedBy stated_by = StatedBy::file;
};

/// Where the direct beam is in every stored frame: x along the columns, y along the rows, px of the stored detector;
/// NaN where it is not known.
struct OriginMap {
  std::vector<double> x, y;
};

/// Where the direct beam is in a scan as a whole, px of the stored detector. Scans differ by their descan, so this is
/// the centre of a mean pattern and not the origin of every frame.
struct BeamCentre {
  double row = 0, col = 0;
};

/// What turns pixels into physical units. Empty fields were not recorded and not given.
struct Calibration {
  std::optional<Quantity> high_tension_v;       ///< accelerating voltage, V
  std::optional<Quantity> camera_length_m;      ///< m
  std::optional<Quantity> scan_step_row_nm;     ///< distance of scan rows, nm
  std::optional<Quantity> scan_step_col_nm;     ///< distance of scan columns, nm
  std::optional<Quantity> scan_rotation;        ///< as stored; the unit is unknown for files, degrees from the user
  std::optional<Quantity> detector_pixel_m;     ///< physical size of a (square) detector pixel, m
  std::optional<Quantity> detector_step_mrad;   ///< angle of one detector pixel, mrad, when stored or derivable
  std::optional<Quantity> detector_step_inv_a;  ///< reciprocal size of one detector pixel, 1/Angstrom
  /// From the detector to the scan: v_scan = R(rotation) T v_detector, rad; T exchanges x and y where it is transposed.
  std::optional<Quantity> rotation_rad;
  std::optional<bool> transpose;
  std::optional<Distortion> ellipse;
  std::shared_ptr<const OriginMap> origin;  ///< of all frames, or none
  std::optional<BeamCentre> centre;         ///< stated by a calibration file only
};

/// How stored frames lie on the scan: which frame belongs to scan position (row, col), and back.
/// A stored row holds `prescan` frames that are dropped, then `cols` frames. Flips and the transposition act on the
/// stored grid in the order transpose, then flip.
struct ScanOrder {
  Index rows = 0, cols = 0;  ///< the scan as the user sees it, after transposition
  Index prescan = 0;         ///< frames dropped at the start of every stored row
  bool flip_rows = false, flip_cols = false, transpose = false;

  /// The stored frame of scan position (row, col); may lie beyond the frames a file has (incomplete scan).
  [[nodiscard]] Index frame(Index row, Index col) const {
    if (flip_rows) row = rows - 1 - row;
    if (flip_cols) col = cols - 1 - col;
    const Index stored_row = transpose ? col : row, stored_col = transpose ? row : col;
    return stored_row * (prescan + (transpose ? rows : cols)) + prescan + stored_col;
  }
};

/// Everything a file says about one scan, before any pixel is decoded.
struct Acquisition {
  std::string path;                ///< as opened (the master)
  std::string format;              ///< "ARINA", "HDF5", "EMD 1.0", "NPY", "raw", "EMPAD", "MIB", "BLO", "Zarr"
  std::vector<std::string> files;  ///< every file that holds frames, in order
  Index frames = 0;                ///< stored frames, dropped ones included
  Index rows = 0, cols = 0;        ///< detector
  DType stored = DType::u16;       ///< element type as stored
  ScanOrder scan;                  ///< rows and cols are filled by the reader
  std::string scan_because;        ///< which rule gave the scan shape
  bool allow_incomplete = false;   ///< scan positions without a frame are empty (zero, not valid)

  std::vector<std::uint32_t> pixel_mask;  ///< (rows, cols) NXdetector bits; empty when the file has none that fits
  /// The value that means "no data" on the stored type, when the format has one.
  std::optional<std::uint64_t> sentinel;
  std::optional<std::uint64_t> saturation;  ///< values above are counted as saturated and kept
  Calibration calibration;
  std::map<std::string, std::string> original_metadata;  ///< path -> value of every scalar leaf
  std::vector<Choice<std::string>> notes;  ///< what was repaired, dropped or assumed while opening, with the reason
};

}  // namespace sonde::stem
