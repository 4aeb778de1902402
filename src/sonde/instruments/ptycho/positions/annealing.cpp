// SPDX-License-Identifier: Apache-2.0
// Random shifts in a disk that shrinks from iteration to iteration.
#include <cmath>
#include <numbers>

#include "sonde/engine/math/philox.h"
#include "sonde/instruments/ptycho/positions/correct.h"

namespace sonde::ptycho {

template <class Real>
Point PositionCorrection<Real>::annealed(Workbench<Real>& bench, Index frame, double radius, std::uint64_t iteration,
                                         Exposure<Real>& exposure) const {
  Point best{};
  double least = error_at(bench, frame, best, exposure);
  for (Index trial = 0; trial < settings_.trials; ++trial) {
    const auto bits =
        philox({static_cast<std::uint32_t>(frame), static_cast<std::uint32_t>(trial),
                static_cast<std::uint32_t>(iteration), 0x705},
               {static_cast<std::uint32_t>(bench.seed()), static_cast<std::uint32_t>(bench.seed() >> 32)});
    // Uniform in the disk.
    const double r = radius * std::sqrt(unit_interval(bits[0], bits[1]));
    const double angle = 2 * std::numbers::pi * unit_interval(bits[2], bits[3]);
    const Point shift{r * std::sin(angle), r * std::cos(angle)};
    const double error = error_at(bench, frame, shift, exposure);
    if (error < least) {
      least = error;
      best = shift;
    }
  }
  return best;
}

template Point PositionCorrection<float>::annealed(Workbench<float>&, Index, double, std::uint64_t,
                                                   Exposure<float>&) const;
template Point PositionCorrection<double>::annealed(Workbench<double>&, Index, double, std::uint64_t,
                                                    Exposure<double>&) const;

}  // namespace sonde::ptycho
