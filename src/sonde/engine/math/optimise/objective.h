// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

namespace sonde {

/// The value of a function at x; fills in its gradient there.
template <class Real>
using Objective = std::function<double(std::span<const Real> x, std::span<Real> gradient)>;

/// How a minimisation stands. goes_on: another iteration may do better. converged: the gradient is as small as was
/// asked for. stalled: no lower value was found along the gradient itself, which is what rounding leaves near a
/// minimum.
enum class Descent { goes_on, converged, stalled };

}  // namespace sonde
