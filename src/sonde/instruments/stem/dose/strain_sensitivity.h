// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/bragg/bragg_options.h"
#include "sonde/instruments/stem/lattice/strain_result.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// Strain of the sample with one thing done otherwise.
struct StrainVariant {
  std::string group;    ///< "kernel", "mask" or "reference"
  std::string what;     ///< "trench to 10.00 px"
  Index compared = 0;   ///< patterns that have a lattice both ways
  Strain change{};      ///< median of the absolute change over these
  Strain over_sigma{};  ///< the same over the stated standard error: its median, of the larger of both ways

  /// Of the four.
  [[nodiscard]] double most() const;
};

/// How much the strain of a scan depends on how disks are found, which of them are used, and what it is relative to.
struct StrainSensitivity {
  Index patterns = 0;
  std::string plain;  ///< what the variants are compared with: "ring, trench to 9.87 px"
  std::vector<StrainVariant> variants;
  std::vector<std::string> warnings;

  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Value to_value() const;
};

/// Finds the strain of `patterns` patterns, spread over the scan and read once, again:
///  - kernel: with a trench that ends a quarter of a radius (at least 1 px) beyond the disk, with one of two radii, and
///    with the kernel poisson (ring, where poisson is used);
///  - mask: from the nearer and from the farther half of the disks of each pattern, by their distance from the direct
///    one;
///  - reference: relative to the median of the upper and of the lower half of the scan (left and right, of one row), or
///    to the median of the scan where the reference is given.
/// Lattices start from that of `result`. For kernels and masks the reference is the median of the sample found in the
/// same way, as it would be that of the scan, unless it is given: what moves all positions alike is no change. Where a
/// variant changes a component by more than its stated error, and by more than noise of that size would by chance, a
/// warning names the worst of its group. Nothing is compared in a result without
/// lattices. Throws Error(budget).
[[nodiscard]] StrainSensitivity find_sensitivity(const Dataset& dataset, const Probe& probe, const BraggOptions& bragg,
                                                 const StrainOptions& options, const StrainResult& result,
                                                 Index patterns, Budget budget);

}  // namespace sonde::stem
