// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// Rows [first, last) of y of plane k in a step of a run.
struct PlaneRows {
  Index step = 0, k = 0, first = 0, last = 0;
};

/// What is done with rows of a plane of z beside their step, by the thread that moves them and while they are in the
/// cache: before their H or E moves, and when it is complete. Where several steps go through memory together, rows of
/// other planes may be in other steps meanwhile.
struct PlaneHooks {
  using Hook = std::function<void(const PlaneRows& rows)>;
  Hook before_magnetic{}, after_magnetic{}, before_electric{}, after_electric{};
};

}  // namespace sonde::maxwell
