// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/radial/bins.h"
#include "sonde/instruments/stem/radial/ring_statistics.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// What radii are measured in. automatic: 1/Angstrom where it is known, else mrad, else px.
enum class RadialUnit { automatic, px, mrad, inverse_angstrom };

/// Which rings and sectors, and about what.
struct RadialOptions {
  std::string centre = "auto";  ///< "auto" or "ROW,COL" in resident (binned) pixels
  CentreMethod centre_method = CentreMethod::edge;
  std::string ellipse;             ///< "A,B,DEGREES"; empty: as the file states it, else circles
  std::string skip_calibration{};  ///< steps of the file's calibration that are not applied
  std::optional<Index> bins;       ///< unset: one for each pixel of radius
  double inner = 0;                ///< in the unit
  std::optional<double> outer;     ///< in the unit; unset: as far as the detector goes
  RadialUnit unit = RadialUnit::automatic;
  Index azimuth = 1;
  PixelSplit split = PixelSplit::full;
  bool median = false, spread = false;  ///< what is kept beside the mean
  std::optional<Index> orders;          ///< the largest angular order

  [[nodiscard]] RingWanted wanted() const { return {median, spread, orders}; }
  void describe(Fields& fields);
  [[nodiscard]] Ellipse ellipse_asked() const;
  /// The calibration that is used: without the steps of `skip_calibration`.
  [[nodiscard]] Calibration used(Calibration calibration) const;
  /// What can be refused before any frame is read. Throws Error(usage).
  void check() const;
  /// At most so many bins on a detector of this size, where its centre is on it.
  [[nodiscard]] Index most_bins(Index rows, Index cols) const;
};

}  // namespace sonde::stem
