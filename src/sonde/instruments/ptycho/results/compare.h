// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/ptycho/quality/phase_rmse.h"
#include "sonde/instruments/ptycho/quality/ring_correlation.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// An object and where on the specimen it lies: what results and truths have in common.
struct PlacedObject {
  std::string name;  ///< of its file, for messages and legends
  Array object;      ///< (S, Y, X) complex128, transmissions
  bool calibrated = false;
  double pixel_row = 1, pixel_col = 1;  ///< A when calibrated
  Point origin;                         ///< of pixel [0,0], object pixels, in the frame of the scan
  Box view;                             ///< what counts: the bounding box of the positions, inside of the object
};

[[nodiscard]] PlacedObject placed(const Result& result, const std::string& name);

/// Whether a file holds a truth beside its scan, as simulate() writes it; false for files that are no HDF5.
[[nodiscard]] bool has_truth(const std::string& path);
/// That truth. Its origin follows from the nominal positions: the scan's frame is theirs. Throws Error(bad_file) naming
/// what is missing or has the wrong shape.
[[nodiscard]] PlacedObject read_truth(const std::string& path);

/// One slice of two objects beside each other, or the product of all slices.
struct SliceComparison {
  PhaseComparison phase;  ///< of the first object against the second
  RingCorrelation rings;  ///< frequencies in 1/A, without calibration in cycles per object pixel
};

/// Two objects where both have been scanned, the second one the measure.
struct ObjectComparison {
  Box view;  ///< in pixels of the first object
  double pixel_row = 1, pixel_col = 1;
  bool calibrated = false;
  SliceComparison whole;                ///< all slices together
  std::vector<SliceComparison> slices;  ///< one by one: several slices, as many in both
  Array first, second, difference;      ///< f32 (rows, cols) of the view: aligned phases of `whole`, rad

  /// {"view": {"rows", "cols"}, "pixel_size_A", "phase_rmse", "scale", "shift_px", "ramp_per_px", "resolution_A",
  /// "rings": {...}, "slices": [...]}; "resolution_px" without a calibration. The resolution is null when the ring
  /// correlation falls nowhere below the half-bit threshold.
  [[nodiscard]] Value to_value() const;
};

/// Compares where the views overlap; the pixels of the first object are taken to those of the second by the whole
/// pixels between their origins, and the rest of a shift is found (Start::blind) or left to first order (Start::near),
/// as phase_rmse() says. Throws Error(bad_input) when pixel sizes differ by more than 1 % or fewer than 8 x 8 pixels
/// are common.
[[nodiscard]] ObjectComparison compare_objects(const PlacedObject& first, const PlacedObject& second, Start start);

}  // namespace sonde::ptycho
