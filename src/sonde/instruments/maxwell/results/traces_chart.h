// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/maxwell/field/field_line.h"

namespace sonde::maxwell {

/// A recorded component of a receiver: samples at start + n dt.
struct NamedTrace {
  std::string name;             ///< "Ez"
  std::string unit;             ///< "V/m"
  std::vector<double> samples;  ///< [time]
  double start = 0;             ///< s
};

/// The components of one receiver over time, one pair of axes each.
[[nodiscard]] Chart ascan_chart(const std::string& title, double dt, const std::vector<NamedTrace>& traces);

/// The traces of a line beside each other as a picture, time since time zero downwards; over their positions where
/// those are even, else counted from 1. Colours of counts end where one sample in a hundred is beyond. Throws
/// Error(bad_input) for a line of fewer than two traces.
[[nodiscard]] Chart bscan_chart(const FieldLine& line);
/// The same, and of one trace an A-scan.
[[nodiscard]] Chart line_chart(const FieldLine& line);

}  // namespace sonde::maxwell
