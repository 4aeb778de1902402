// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/orient/deflection.h"
#include "sonde/instruments/ptycho/read/source.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

struct OrientOptions {
  Index scan = 20;
  Index iterations = 20;
  std::vector<std::string> rotation_deg;  ///< angles to try; empty: those of least curl
  bool refine = true;

  void describe(Fields& fields);
};

/// A short reconstruction with one orientation.
struct OrientTrial {
  bool transpose = false;
  double rotation = 0;             ///< rad, in [-pi, pi), as geometry.scan_rotation_deg
  std::optional<double> r_free{};  ///< of the last iteration; nothing without held-out frames
  double r_intensity = 0;          ///< infinite when the reconstruction failed
  bool refined = false;            ///< at an angle beside the best one, not one of the eight

  /// What trials are ranked by.
  [[nodiscard]] double score() const { return r_free.value_or(r_intensity); }
};

/// What was found about the detector.
struct Orientation {
  Index frames = 0;                   ///< that took part
  LeastCurl straight, transposed;     ///< what deflections say
  std::vector<OrientTrial> trials;    ///< the best first
  double floor = 0;                   ///< R_I that counting noise leaves
  std::vector<std::string> warnings;  ///< what is doubtful about scan and settings, as a run says it; also logged

  [[nodiscard]] const OrientTrial& best() const { return trials.front(); }
  /// The best trial of another handedness or more than 16 degrees away; nullptr when all of those failed.
  [[nodiscard]] const OrientTrial* rival() const;
  /// Whether the rival is worse by at least a tenth of what the worst trial is worse.
  [[nodiscard]] bool clear() const;
  /// The lines of a run file that say so.
  [[nodiscard]] std::string run_file_lines() const;
};

/// Finds the orientation of the detector for the frames in the middle of a scan. Positions are those of the settings
/// without their transposition and rotation. Deflections give the angle for either handedness but for quarter turns;
/// eight short reconstructions by `gd` (one slice, probe and object as the settings say, probe fixed, a tenth of the
/// frames held out) decide, and three to six more find the angle within 16 degrees of the best. Every orientation has
/// the same frames, start and order. Throws what plan_job() and load_counts() throw, Error(bad_input) when none of the
/// trials could be made, Error(budget), Error(usage) for angles that are no numbers. Reports progress, answers
/// interrupts.
[[nodiscard]] Orientation find_orientation(const RunFile& settings, Source source, const OrientOptions& options,
                                           Budget budget);

}  // namespace sonde::ptycho
