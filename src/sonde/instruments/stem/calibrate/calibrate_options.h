// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/correct/centre.h"

namespace sonde::stem {

/// How rings are measured.
struct CalibrateOptions {
  std::string calibrant{};      ///< a CIF file or a list of spacings; empty: no size of a pixel
  std::string centre = "auto";  ///< "auto" or "ROW,COL" in resident (binned) pixels
  CentreMethod centre_method = CentreMethod::edge;
  std::optional<double> inner{};  ///< px; unset: beyond the direct disk
  std::optional<double> outer{};  ///< px; unset: the largest whole ring
  double k_max = 2;               ///< of lines, 1/A
  bool fit_ellipse = true;

  void describe(Fields& fields);
  /// What can be refused before any frame is read. Throws Error(usage).
  void check() const;
};

}  // namespace sonde::stem
