// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/bragg/bragg_vectors.h"
#include "sonde/instruments/stem/lattice/strain_result.h"
#include "sonde/instruments/stem/orient/grain_table.h"
#include "sonde/instruments/stem/orient/orient_options.h"
#include "sonde/instruments/stem/orient/phase_map.h"
#include "sonde/instruments/stem/orient/zone_sector.h"

namespace sonde::stem {

/// The orientation of the crystal at every position of a scan, along the axes of the detector.
struct OrientResult {
  OrientationPlan plan;                        ///< of the crystal, of several that of the first one
  std::vector<OrientationPlan> other_plans{};  ///< of the crystals after it
  Index scan_rows = 0, scan_cols = 0;
  double scan_step_row = 0, scan_step_col = 0;  ///< nm; 0: not known
  double q_pixel = 0;                           ///< 1/A
  std::optional<double> q_pixel_error{};        ///< its standard error where it was fitted
  std::vector<Choice<std::string>> choices{};   ///< what was chosen, each with its reason
  Index most_matches = 1;
  bool refined = false;
  /// Of several crystals those of the phase of a position; with the orientation first that the neighbours settle.
  std::vector<PatternMatch> matches;
  GrainMap grains{};                     ///< empty where none were looked for; of several crystals those of each
  std::optional<PhaseMap> phases{};      ///< of several crystals
  std::optional<StrainResult> strain{};  ///< against the cells of the crystals, where it was asked for
  std::vector<double> explained;         ///< share of the disks of a position that a match explains; NaN without one
  std::vector<std::string> warnings{};   ///< what should not be trusted, the most likely cause first

  [[nodiscard]] Index positions() const { return scan_rows * scan_cols; }
  [[nodiscard]] std::size_t crystals() const { return 1 + other_plans.size(); }
  [[nodiscard]] const OrientationPlan& plan_of(std::size_t crystal) const {
    return crystal == 0 ? plan : other_plans[crystal - 1];
  }
  /// The crystal of a position; 0 where it has no orientation.
  [[nodiscard]] std::size_t phase_at(std::size_t position) const {
    return phases && phases->phase[position] > 0 ? static_cast<std::size_t>(phases->phase[position]) : 0;
  }
  [[nodiscard]] Index matched() const;
  [[nodiscard]] Index ambiguous() const;
  /// Median over the positions of the standard error of the best match, degrees; NaN where none was refined.
  [[nodiscard]] double misorientation_error() const;
  /// More than nine tenths of the positions have no orientation.
  [[nodiscard]] bool failed() const { return 10 * matched() < positions(); }

  [[nodiscard]] Value to_value() const;
  [[nodiscard]] std::vector<std::string> lines() const;
  /// orientation/matrix (scan row, scan column, match, 3, 3), corr, zone, inplane, mirrored of every match, of refined
  /// ones overlap, standard_error (turns about the detector's x, y and the beam, degrees) and misorientation_error
  /// (their root sum of squares); reliability, explained, ambiguous, other (the second orientation of a projection) and
  /// valid of every position, colours() with their legend (of several crystals that of the first); of strain the maps
  /// of StrainResult::add_strain(); and what find_grains() made: grain (0: none), from_mean, boundary (degrees) and
  /// settled of every position, and add_grains().
  [[nodiscard]] Contents contents(const std::string& command) const;
  /// The text of a file .ang of EDAX TSL: Euler angles of Bunge (rad), place (um; steps where they are not known),
  /// explained share, reliability over 100, phase (-1: none).
  [[nodiscard]] std::string ang() const;
  /// A row for each grain.
  [[nodiscard]] Value grain_table() const;
  /// u8 (scan row, scan column, 3): the direction of the beam in the colours of the crystal's ZoneSector; `not_finite`
  /// without one.
  [[nodiscard]] Array colours() const;
  /// Directions of the beam in the colours of ZoneSector beside their legend, grains, and the reliability; of several
  /// crystals each in its own colours, with the phases and their reliability; strain as strain_picture() draws it.
  [[nodiscard]] Array picture() const;
};

/// Of several crystals every position is matched with each, and has the matches of the one with the largest
/// shared_strength(); with one crystal nothing but its orientations is computed.
/// The size of a pixel is that of the options, of the vectors, or fit_q_pixel(). Throws Error(bad_input) where that is
/// refused or the voltage is missing, naming the options that give them, what OrientationPlan::prepare() throws, and
/// Error(budget).
[[nodiscard]] OrientResult make_orient(BraggVectors vectors, const std::vector<Crystal>& crystals,
                                       const OrientOptions& options, Budget budget);
[[nodiscard]] inline OrientResult make_orient(BraggVectors vectors, const Crystal& crystal,
                                              const OrientOptions& options, Budget budget) {
  return make_orient(std::move(vectors), std::vector{crystal}, options, budget);
}

/// Colours of the phases of a map: the picture and the words of its label.
[[nodiscard]] Array phase_picture(const OrientResult& result, Index zoom);
[[nodiscard]] std::string phase_legend(const PhaseMap& phases);

}  // namespace sonde::stem
