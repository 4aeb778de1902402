// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/run/instrument.h"

namespace sonde::stem {

/// Of `sonde demo`: the phase of hills whose patterns were computed by wave optics, on a detector that is turned and
/// has rows and columns exchanged, and how it agrees with the phase that the simulator used.
void demonstrate_phase(const Demonstration& demo, Run& run);

/// Of `sonde demo`: the strain of a crystal with an interface, and how it agrees with the strain that was drawn.
void demonstrate_strain(const Demonstration& demo, Run& run);

}  // namespace sonde::stem
