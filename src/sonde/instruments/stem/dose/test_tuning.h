// SPDX-License-Identifier: Apache-2.0
// For tests: the strain of crystals without strain.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/dose/disk_tuning.h"
#include "sonde/instruments/stem/dose/test_study.h"
#include "sonde/instruments/stem/lattice/strain_result.h"

namespace sonde::stem::testing {

inline Budget tuning_budget() { return {std::size_t{1} << 28, "test"}; }

inline DiskTuning tuning_of(const Dataset& dataset, const BraggOptions& options, Index patterns = 24) {
  return tune_disks(dataset, find_probe(dataset, options), options, patterns, tuning_budget());
}

/// Rms of e_xx and e_yy, as bragg and strain find them. The largest tenth is left out: there is the pattern whose fit
/// took disks for outliers. A position without a lattice is as bad as 1.
inline double strain_error(const Dataset& dataset, const BraggOptions& options) {
  const BraggResult found = make_bragg(dataset, find_probe(dataset, options), options, tuning_budget());
  StrainOptions plain;
  plain.origin_fit = OriginFit::none;
  const StrainResult strain = make_strain(found.vectors, plain, tuning_budget());
  std::vector<double> squares;
  for (const Strain& one : strain.strain)
    for (const double part : {one.xx, one.yy}) squares.push_back(std::isnan(part) ? 1 : part * part);
  std::sort(squares.begin(), squares.end());
  squares.resize(squares.size() - squares.size() / 10);
  double sum = 0;
  for (const double square : squares) sum += square;
  return std::sqrt(sum / static_cast<double>(squares.size()));
}

}  // namespace sonde::stem::testing
