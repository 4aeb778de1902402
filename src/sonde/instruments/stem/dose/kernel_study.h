// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/bragg/bragg_options.h"
#include "sonde/instruments/stem/dose/disk_bound.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// What one kernel makes of the patterns of a study.
struct KernelTrial {
  KernelShape kernel = KernelShape::ring;
  Index detections = 0;
  Index spurious = 0;  ///< of these, on no site of the lattice, on an occupied one, or on one without counts
  Index missed = 0;    ///< sites with counts that it has not found
  Index outliers = 0;  ///< of the disks compared, those that the fit of the lattice leaves out
  /// Rms distance of a disk from its lattice along one axis over its own Cramer-Rao bound; NaN where it finds too few.
  double over_bound = 0;
  double over_bound_sigma = 0;  ///< standard error
  /// Share of the counts that the ideal method would not need for the same places: 1 - 1 / over_bound^2, at least 0.
  [[nodiscard]] double counts_lost() const;
  [[nodiscard]] bool compared() const;
};

/// How precisely each kernel places the disks of a scan. Deviations are those from the lattice of each pattern: noise
/// of the counts, and what a kernel does wrong because neighbours or contrast within disks pull at it.
struct KernelStudy {
  Index patterns = 0, with_lattice = 0;
  Index sites = 0;  ///< of the lattices, with counts of a disk
  Index disks = 0;  ///< that all kernels compared have found
  DiskProfile profile;
  double counts = 0;  ///< of a disk compared, median
  double bound = 0;   ///< of a disk compared along one axis, median, px
  bool counted = true;
  std::vector<KernelTrial> trials;  ///< in the order of KernelShape
  KernelShape recommended = KernelShape::ring;
  std::string because;
  std::vector<std::string> warnings;

  [[nodiscard]] const KernelTrial& of(KernelShape kernel) const;
  /// A table, and the recommendation.
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Value to_value() const;
};

/// Finds the disks of `patterns` patterns, spread over the scan and read once, with every kernel. Sites are those of
/// lattices fitted to the disks of options.kernel; their counts and bounds follow from the frames. Kernels that find
/// less than half of the sites are not compared; of the others, those disks are that all of them find. Throws
/// Error(bad_input) where the patterns have no lattice, and Error(budget).
[[nodiscard]] KernelStudy study_kernels(const Dataset& dataset, const Probe& probe, const BraggOptions& options,
                                        Index patterns, Budget budget);

}  // namespace sonde::stem
