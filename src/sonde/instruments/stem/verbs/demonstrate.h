// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/run/instrument.h"

namespace sonde::stem {

/// The part of `sonde demo`: an acquisition of nanoparticles, its images, and how they agree with the simulator's
/// truth.
void demonstrate(const Demonstration& demo, Run& run);

}  // namespace sonde::stem
