// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/bragg/bragg_disks.h"
#include "sonde/instruments/stem/bragg/bragg_options.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// The Bragg disks of a scan, with what they were found with and what should not be trusted.
struct BraggResult {
  Probe probe;
  std::vector<Choice<std::string>> choices;  ///< what was chosen, each with its reason
  BraggVectors vectors;
  FilterCounts filters;
  Index patterns = 0;           ///< positions with a frame
  Index without = 0;            ///< of these, patterns without a disk
  double nearest = 0;           ///< median distance of a disk to its nearest neighbour, px; 0 where none has one
  std::optional<double> sigma;  ///< median standard error of a place along one axis, px
  Array mean;                   ///< (row, col) f64: mean pattern
  Array map;                    ///< (row, col) f64: intensity of all disks, each shared among its four pixels
  Index shown = 0;              ///< position of a pattern that is drawn
  Array pattern;                ///< (row, col): it
  std::vector<std::string> warnings;

  /// Disks in fewer than one pattern in ten: nothing follows from these.
  [[nodiscard]] bool converged() const { return 10 * without <= 9 * patterns; }
  [[nodiscard]] Value to_value() const;
  [[nodiscard]] std::vector<std::string> lines() const;
  /// Those of the vectors, and /bragg/vector_map.
  [[nodiscard]] Contents contents(const std::string& command) const;
  /// The mean pattern with the template, a pattern with its disks, and the vector map: u8 (rows, cols, 3).
  [[nodiscard]] Array picture() const;
};

/// The template of the options on a data set: given, or the central disk of its mean pattern. Throws Error(bad_input)
/// where there is none, naming the options that give it.
[[nodiscard]] Probe find_probe(const Dataset& dataset, const BraggOptions& options);
/// That of a vacuum scan.
[[nodiscard]] Probe vacuum_probe(const Dataset& vacuum);

/// What the disks of a scan are searched with: settings that are not given follow from the template and the mean
/// pattern.
struct BraggSearch {
  Array mean;                     ///< (row, col) f64
  std::optional<double> spacing;  ///< of the nearest disks of the mean pattern, px; unset where it has one
  KernelSettings kernel;
  DiskSettings disks;
};
[[nodiscard]] BraggSearch choose_search(const Dataset& dataset, const Probe& probe, const BraggOptions& options);

/// The disks of a loaded scan: prepares the plan and visits every frame. Throws what BraggPlan::prepare and
/// visit_frames throw, and Error(budget).
[[nodiscard]] BraggResult make_bragg(const Dataset& dataset, const Probe& probe, const BraggOptions& options,
                                     Budget budget);

/// Sums of `intensity` at the places of the disks, each shared among the four pixels around it in proportion to their
/// nearness: (rows, cols) f64.
[[nodiscard]] Array vector_map(const BraggVectors& vectors);

}  // namespace sonde::stem
