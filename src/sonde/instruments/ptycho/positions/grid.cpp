// SPDX-License-Identifier: Apache-2.0
// Shifts on a grid about the position, refined by a parabola.
#include "sonde/instruments/ptycho/positions/correct.h"
#include "sonde/instruments/ptycho/positions/shifts.h"

namespace sonde::ptycho {

template <class Real>
Point PositionCorrection<Real>::searched(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure) const {
  const double side = settings_.radius / 2;
  Point best{};
  double least = error_at(bench, frame, best, exposure);
  for (int row = -2; row <= 2; ++row)
    for (int col = -2; col <= 2; ++col) {
      if (row == 0 && col == 0) continue;
      const Point shift{row * side, col * side};
      const double error = error_at(bench, frame, shift, exposure);
      if (error < least) {
        least = error;
        best = shift;
      }
    }
  const double row = lowest(error_at(bench, frame, best - Point{side, 0}, exposure), least,
                            error_at(bench, frame, best + Point{side, 0}, exposure));
  const double col = lowest(error_at(bench, frame, best - Point{0, side}, exposure), least,
                            error_at(bench, frame, best + Point{0, side}, exposure));
  return best + Point{row * side, col * side};
}

template Point PositionCorrection<float>::searched(Workbench<float>&, Index, Exposure<float>&) const;
template Point PositionCorrection<double>::searched(Workbench<double>&, Index, Exposure<double>&) const;

}  // namespace sonde::ptycho
