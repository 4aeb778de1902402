// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/neoclassical/operators/drift_kinetic.h"

namespace sonde::neoclassical {

/// Makes the parities of a `skew` operator of a stellarator-symmetric surface true to the last bit: sums over a field
/// line and over its image are rounded differently, and where collisions are rare a solution of the order of 1 / nu_hat
/// times that would be left in the functions that nothing drives.
void make_parities_exact(DriftKinetic& equation);

}  // namespace sonde::neoclassical
