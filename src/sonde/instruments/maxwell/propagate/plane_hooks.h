// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// What is done with a plane of z beside its step, by the thread that moves it and while it is in the cache: before its
/// H or E moves, and when it is complete.
struct PlaneHooks {
  std::function<void(Index k)> before_magnetic{}, after_magnetic{}, before_electric{}, after_electric{};
};

}  // namespace sonde::maxwell
