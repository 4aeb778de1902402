// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace sonde {

/// lower <= x <= upper, element by element; infinite where there is no bound. Empty: no bounds at all.
template <class Real>
struct Bounds {
  std::vector<Real> lower, upper;
};

}  // namespace sonde
