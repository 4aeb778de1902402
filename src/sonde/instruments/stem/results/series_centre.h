// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/load/series.h"
#include "sonde/instruments/stem/results/detector_images.h"

namespace sonde::stem {

/// How far the beam of one scan is from the centre of its series, in resident pixels.
struct ScanShift {
  std::string label;               ///< of the scan
  std::optional<double> row, col;  ///< its own centre minus that of the series; absent where it has none
  std::string reason;              ///< why it has none
};

/// One centre for all scans of a series, so that a detector counts the same pixels in each of them, and how far the
/// beam moves about it.
struct SeriesCentre {
  Centre centre;  ///< found in the mean of the mean patterns; pixels that are bad in a scan are left out
  std::vector<ScanShift> shifts;  ///< in the order of the series

  /// The longest shift in pixels; 0 when no scan has a centre of its own.
  [[nodiscard]] double largest_shift() const;
  /// {"row", "col", "radius", "residual_rms", "confidence", "method", "notes", "largest_shift_px",
  ///  "shifts": [{"scan", "row", "col"} or {"scan", "error"}]}
  [[nodiscard]] Value to_value() const;
  /// Of one scan, for the record of its images: {"scans", "shift_row", "shift_col"}, null where it has no centre.
  [[nodiscard]] Value of_scan(Index i) const;
  /// What people read: the centre and its notes, then a line for every scan.
  [[nodiscard]] std::vector<std::string> lines() const;
};

/// Collects the mean patterns of scans as they are loaded, so that none is loaded twice. With `disk` centres are those
/// of find_disk(), else of find_centre().
class SeriesCentreFinder {
 public:
  SeriesCentreFinder(CentreMethod method, bool disk) : method_(method), disk_(disk) {}

  /// The next scan.
  void add(const Dataset& dataset, const std::string& label);
  /// The centre of the scans so far, of which there is one at least. Throws what finding it throws, and
  /// Error(bad_input) when automatic bins gave patterns of different sizes. A note says when the beam moves by more
  /// than a pixel.
  [[nodiscard]] SeriesCentre find() const;

 private:
  struct Own {
    std::string label;
    std::optional<Centre> centre;
    std::string reason;
  };
  [[nodiscard]] Centre centre_of(View<const double, 2> pattern, std::span<const std::uint8_t> trusted) const;

  CentreMethod method_;
  bool disk_;
  std::vector<Own> own_;
  Shape shape_;
  Index bin_ = 1;
  std::string unequal_;                // two scans whose patterns have different sizes
  std::vector<double> sum_;            // of the mean patterns
  std::vector<std::uint8_t> trusted_;  // pixels that every scan trusts
};

/// The same for a whole series, whose scans are loaded one after the other.
[[nodiscard]] SeriesCentre find_series_centre(Series& series, CentreMethod method, bool disk);

/// What images of these detectors need of the series: nothing where no detector asks for the centre or all is given.
[[nodiscard]] std::optional<SeriesCentre> series_centre_for(Series& series, const DetectorOptions& options);

}  // namespace sonde::stem
