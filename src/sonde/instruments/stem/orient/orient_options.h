// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/lattice/strain_options.h"
#include "sonde/instruments/stem/orient/grains.h"
#include "sonde/instruments/stem/orient/match_orientations.h"

namespace sonde::stem {

/// How orientations are made from lists of disks.
struct OrientOptions {
  std::vector<std::string> crystal;  ///< CIF files; of several the one that explains a position best is its phase
  double phase_margin = 1;           ///< %: two crystals within are not decided
  std::optional<double> voltage{};   ///< kV; unset: that of the file
  std::optional<double> q_pixel{};   ///< 1/A; unset: that of the file
  OriginChoice origin = OriginChoice::automatic;
  OriginFit origin_fit = OriginFit::plane;
  std::string skip_calibration;  ///< steps of the file's calibration that are not applied
  OrientationOptions plan{};
  MatchOptions match{};
  GrainOptions grains{};
  bool strain = false;
  std::optional<double> rotation{};  ///< degrees, of strain; unset: that of the file
  std::string transpose = "auto";    ///< as of StrainOptions

  void describe(Fields& fields);
};

}  // namespace sonde::stem
