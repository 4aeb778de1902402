// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sonde::ptycho {

/// What the best steps along an object direction dO and a probe direction dP are found from, for one frame: sums over
/// pixels and modes with x = dO P and y = O dP.
struct StepSums {
  double xx = 0, yy = 0, xy = 0;  ///< |x|^2, |y|^2, Re x conj(y)
  double chi_x = 0, chi_y = 0;    ///< Re chi conj(x), Re chi conj(y)
};

}  // namespace sonde::ptycho
