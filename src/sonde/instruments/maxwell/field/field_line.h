// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// Traces of one antenna pair along a line, or of one source for a moving receiver.
struct FieldLine {
  std::string format{};  ///< of the file that it comes from: "GSSI DZT"
  std::string title{};
  Index traces = 0, samples = 0;
  std::vector<float> values{};          ///< [trace][sample] in `unit`; counts of 32 bits are rounded to 24
  std::string quantity = "amplitude";   ///< what the values are: "Ez"
  std::string unit = "count";           ///< "count", "V/m", "A/m"
  double dt = 0;                        ///< s
  double time_zero = 0;                 ///< s from sample 0 to the moment when the pulse leaves the antenna
  std::vector<double> positions{};      ///< m, of the traces; empty where they are not known
  double separation = 0;                ///< m, between transmitter and receiver; 0 where it is not known
  double nominal_frequency = 0;         ///< Hz, of the antennas; 0 where it is not known
  Index channel = 1, channels = 1;      ///< which of how many in the file
  std::vector<std::string> history{};   ///< what was done to the traces, in order; written files keep it
  std::vector<std::string> warnings{};  ///< what the file contradicts itself in, and what of it was not used

  [[nodiscard]] float* trace(Index i) { return values.data() + i * samples; }
  [[nodiscard]] const float* trace(Index i) const { return values.data() + i * samples; }
};

/// What a user decides beside the file.
struct FieldReading {
  Index channel = 1;             ///< of a file with several, from 1
  bool allow_truncated = false;  ///< the whole traces of a file that is cut off, with a warning
};

}  // namespace sonde::maxwell
