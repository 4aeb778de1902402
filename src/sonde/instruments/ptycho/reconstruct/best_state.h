// SPDX-License-Identifier: Apache-2.0
// Private to the room: the estimate with the lowest R_I.
#pragma once

#include <optional>

#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// What would be brought back.
struct BestState {
  State state;             ///< empty until there is one
  double r_intensity = 0;  ///< 0: not known of this kind of engine
  std::optional<double> r_free;

  [[nodiscard]] bool empty() const { return state.object.empty(); }
  [[nodiscard]] bool is_beaten_by(double r) const { return !(r_intensity > 0) || r < r_intensity; }
};

}  // namespace sonde::ptycho
