// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/bragg/bragg_options.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// What one value of a setting makes of the patterns, the other settings as they are chosen.
struct TuningTrial {
  std::string value;  ///< "poisson"
  Index detections = 0;
  Index spurious = 0;  ///< of these, on no site of the lattice, on an occupied one, or on one without counts
  Index missed = 0;    ///< sites with counts that have no disk
  Index without = 0;   ///< patterns whose disks have no lattice
  /// The error of strain that the residuals of the lattices state, over the one that the Cramer-Rao bounds of all disks
  /// allow: rms of e_xx and e_yy over the patterns. NaN where none has a lattice.
  double over_bound = std::numeric_limits<double>::quiet_NaN();
};

/// All values of one setting that were tried.
struct TunedSetting {
  std::string key;  ///< "kernel"
  std::vector<TuningTrial> trials;
  std::size_t before = 0, chosen = 0;  ///< trials
  std::string because;
};

/// Settings of a search for disks, chosen on some patterns of the scan.
struct DiskTuning {
  Index patterns = 0, with_lattice = 0;
  double bound = 0;                    ///< error of strain that the counts allow
  std::vector<TunedSetting> settings;  ///< as they were tried last
  BraggOptions options;                ///< with what was chosen
  std::vector<std::string> warnings;

  /// Of the chosen settings.
  [[nodiscard]] double over_bound() const;
  /// What was chosen as options of the program: "--kernel poisson --background none ...".
  [[nodiscard]] std::string repeat() const;
  /// A table, each choice with its reason, and the options that repeat it.
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Value to_value() const;
};

/// Chooses min_relative_intensity, kernel, background, kernel_outer and min_peak_spacing, one after the other from
/// those of `options`, until none changes (three times at most), on `patterns` patterns spread over the scan. Of each
/// setting the values are taken with which the error of strain is within 1 % of the least, and of these the one with
/// the fewest disks off the lattice or missed. The lattices are those of the disks that `options` find, with a larger
/// min_relative_intensity where these have none. What a kernel does to all disks alike, such as a change of scale, is
/// no residual and not seen. The result depends on nothing but the counts and the options. Throws Error(bad_input)
/// where the patterns have no lattice, and Error(budget).
[[nodiscard]] DiskTuning tune_disks(const Dataset& dataset, const Probe& probe, const BraggOptions& options,
                                    Index patterns, Budget budget);

}  // namespace sonde::stem
