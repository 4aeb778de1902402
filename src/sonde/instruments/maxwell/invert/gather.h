// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// The records of one shot, [receiver][step], V/m or A/m.
struct Gather {
  Index steps = 0, receivers = 0;
  std::vector<double> samples;

  Gather() = default;
  /// Of zeros.
  Gather(Index step_count, Index receiver_count)
      : steps(step_count), receivers(receiver_count), samples(static_cast<std::size_t>(steps * receivers)) {}

  [[nodiscard]] View<double, 2> traces() { return {samples.data(), receivers, steps}; }
  [[nodiscard]] View<const double, 2> traces() const { return {samples.data(), receivers, steps}; }
  [[nodiscard]] std::span<double> trace(Index receiver) {
    return std::span(samples).subspan(first(receiver), static_cast<std::size_t>(steps));
  }
  [[nodiscard]] std::span<const double> trace(Index receiver) const {
    return std::span(samples).subspan(first(receiver), static_cast<std::size_t>(steps));
  }

 private:
  [[nodiscard]] std::size_t first(Index receiver) const { return static_cast<std::size_t>(receiver * steps); }
};

/// What one record adds to the misfit.
struct RecordMisfit {
  double value = 0;
  double squares = 0;            ///< sum w (d - d_obs)^2, whatever the kind: over sum w and the variance it is chi^2
  std::vector<double> residual;  ///< d(value)/d(d), the adjoint source, [receiver][step]
};

}  // namespace sonde::maxwell
