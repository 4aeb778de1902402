// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/orient/kinematic.h"

namespace sonde::stem {

/// Which reflections, and which pattern.
struct CrystalOptions {
  double k_max = 1.5;               ///< 1/A
  std::string zone{};               ///< "U,V,W", or empty: no pattern
  std::optional<double> voltage{};  ///< kV
  double excitation_error = 0.02;   ///< 1/A, sigma
  double precession = 0;            ///< degrees

  void describe(Fields& fields);
  [[nodiscard]] std::optional<Miller> zone_asked() const;
  /// What can be refused before the file is read. Throws Error(usage), and Error(bad_input) for a zone without a
  /// voltage.
  void check() const;
};

/// A crystal, its reflections and what the beam along a zone axis makes of them.
struct CrystalResult {
  Crystal crystal;
  std::vector<Reflection> reflections;
  PointGroup group;
  std::vector<Family> families;
  std::optional<Miller> zone;
  KinematicBeam beam;
  std::vector<KinematicSpot> pattern;

  [[nodiscard]] Value to_value() const;
  /// Cell, symmetry and the table of families.
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Contents contents(const std::string& command) const;
  /// Intensity of each family by length, and the pattern where there is one.
  [[nodiscard]] Chart chart() const;
};

/// Throws what list_reflections() throws, and Error(bad_input) where the zone has no spot.
[[nodiscard]] CrystalResult describe_crystal(Crystal crystal, const CrystalOptions& options);

}  // namespace sonde::stem
