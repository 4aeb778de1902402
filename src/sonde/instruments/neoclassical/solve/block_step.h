// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <functional>

#include "sonde/engine/base/interrupt.h"

namespace sonde::neoclassical {

/// Before each block of an elimination, which takes seconds on a fine grid: ends the work when it is asked to stop, and
/// reports to those who ask how far it is.
struct BlockStep {
  std::function<void()> notify;

  void operator()() const {
    check_interrupt();
    if (notify) notify();
  }
};

}  // namespace sonde::neoclassical
