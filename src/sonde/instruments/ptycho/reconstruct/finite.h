// SPDX-License-Identifier: Apache-2.0
// Private to the room: numbers that are none, and where they come from.
#pragma once

#include <span>
#include <string>

#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/share/share.h"

namespace sonde::ptycho {

/// Throws Error(not_converged) with the place of the first number of a complex array that is not finite.
template <class Real>
void require_finite(const Array& array, const char* what);

/// Of object and probe. What one process finds, all end with: the others would wait for it. One process has no share.
template <class Real>
void require_finite_state(const State& state, const Share* share);

/// Of finite arrays whose products are too large: the first frame that shows it, and where the largest numbers are.
template <class Real>
[[nodiscard]] std::string why_not_finite(const State& state, std::span<const Index> frames,
                                         std::span<const FrameSums> fit, const Share* share);

}  // namespace sonde::ptycho
