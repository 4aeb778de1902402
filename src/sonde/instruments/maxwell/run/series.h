// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell {

/// The way of amplitudes and records between the survey's steps and those of the propagator, and its transpose. Series
/// of the survey are [point][step], those of the propagator [step][point].
struct Series {
  Index steps = 0;  ///< of the survey
  Index ratio = 1;
  bool corrected = false;

  [[nodiscard]] std::vector<double> amplitudes_of(const std::vector<Point>& sources,
                                                  std::span<const double> survey) const;
  [[nodiscard]] std::vector<double> gradient_of_amplitudes(const std::vector<Point>& sources,
                                                           std::span<const double> inner) const;
  [[nodiscard]] std::vector<double> record_of(const std::vector<Point>& receivers, std::span<const double> inner) const;
  [[nodiscard]] std::vector<double> residual_of(const std::vector<Point>& receivers,
                                                std::span<const double> survey) const;
};

}  // namespace sonde::maxwell
