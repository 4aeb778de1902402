// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"

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

/// The traces of a line beside each other as a picture, time downwards. `positions` in m along the line, ascending or
/// descending evenly; empty: the traces are counted from 1.
struct Line {
  std::string title{}, name{}, unit{};
  double dt = 0;                  ///< s
  double start = 0;               ///< s, of the first samples
  std::vector<double> samples{};  ///< [time][trace]
  std::vector<double> positions{};
  Index traces = 0;
};
/// Throws Error(bad_input) for a line of fewer than two traces.
[[nodiscard]] Chart bscan_chart(const Line& line);

}  // namespace sonde::maxwell
