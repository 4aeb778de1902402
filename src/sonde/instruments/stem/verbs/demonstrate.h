// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/run/instrument.h"

namespace sonde::stem {

/// The part of `sonde demo`: an acquisition of nanoparticles and its images, the phase of another and the strain of a
/// third, and how they agree with the simulator's truth.
void demonstrate(const Demonstration& demo, Run& run);

}  // namespace sonde::stem
