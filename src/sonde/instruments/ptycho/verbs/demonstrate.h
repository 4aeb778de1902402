// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/run/instrument.h"

namespace sonde::ptycho {

/// The part of `sonde demo`: simulates a small scan of overlapping patterns, reconstructs it, writes result, pictures
/// and report into the folder, and records as a check of the report how far the phase is from the truth.
void demonstrate(const Demonstration& demo, Run& run);

}  // namespace sonde::ptycho
