// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/bragg/bragg_options.h"
#include "sonde/instruments/stem/dose/disk_bound.h"
#include "sonde/instruments/stem/lattice/strain.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// A ratio with its standard error.
struct Measured {
  double value = 0, sigma = 0;
};

/// How precisely the disks of a scan are placed, and what strain follows. The electrons of every pattern are divided
/// into two independent halves; a disk is at a place in each. Both have half the dose, so that the standard deviation
/// of the difference is twice that of the whole pattern. Places are along one axis.
struct DoseReport {
  Index patterns = 0, with_lattice = 0;
  Index sites = 0;                ///< of the lattices, whose disk is sure in a half (5 standard errors of its height)
  Index disks = 0;                ///< of these, found in the whole pattern and in both halves, and not misplaced
  Index missed = 0;               ///< not found in one of the three
  Index misplaced = 0;            ///< farther apart in the halves than six times the scatter: another maximum was taken
  DiskProfile profile;            ///< of the direct disks
  double counts = 0;              ///< of a disk, median
  double bound = 0;               ///< Cramer-Rao bound of a disk, median, px
  double gain = 1;                ///< units of the detector for an electron
  std::optional<Measured> noise;  ///< variance over mean of flat pixels; unset where counts are too few for it
  bool noise_in_disks = false;    ///< these pixels are inside disks, as the background has too few counts
  Measured over_bound;            ///< rms of half the distance of both halves over the bound
  std::optional<Measured> over_stated;  ///< the same over the standard error that `bragg` states
  Measured lattice_over_bound;          ///< rms distance of the whole pattern's disks from its lattice over the bound
  // Strain per position, detector axes, by the fit of `stem strain`
  Index strained = 0;      ///< patterns of which both halves have a lattice
  Strain strain{};         ///< rms of half the difference of both halves
  Strain strain_bound{};   ///< what the bounds allow, median
  Strain strain_stated{};  ///< what the residuals of the fit state, median
  std::vector<std::string> warnings;

  /// Of a disk along one axis, px.
  [[nodiscard]] double scatter() const { return over_bound.value * bound; }
  /// What distances from the lattice have beyond the scatter of counts, px; 0 where they surely have none: three
  /// standard errors, and a tenth that the least squares of a lattice may be off.
  [[nodiscard]] double systematic() const;
  /// Counts of a disk for which the rms of e_xx and e_yy would be `strain`, with as much background for each.
  [[nodiscard]] double counts_for(double strain) const;
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Value to_value() const;
};

/// The report of `patterns` patterns spread over the scan, which are read once. Halves depend on position, pixel and
/// counts only. Throws Error(bad_input) for values that are no electrons: those of a float that are not whole, and
/// where the variance of flat pixels is not 0.8 to 1.2 of their mean; where patterns have no lattice, or fewer than 10
/// disks are found in both halves; and Error(budget).
[[nodiscard]] DoseReport report_dose(const Dataset& dataset, const Probe& probe, const BraggOptions& options,
                                     Index patterns, Budget budget);

}  // namespace sonde::stem
