// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/neoclassical/transport/radial_transport.h"

namespace sonde::neoclassical {

/// radial_transport() by all ranks together, which give the same: a radius for each thread goes to whoever is free.
/// Returns the radii on rank 0, on the others nothing. The numbers do not depend on how many ranks there are. Errors of
/// any rank are thrown on rank 0 (see hand_out()).
[[nodiscard]] std::vector<RadialResult> radial_transport(const Ranks& ranks, const RadialSource& source,
                                                         std::span<const RadialInput> radii,
                                                         const TransportOptions& options);

}  // namespace sonde::neoclassical
