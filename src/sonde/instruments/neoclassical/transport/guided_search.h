// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sonde/instruments/neoclassical/transport/ambipolar.h"

namespace sonde::neoclassical {

/// Stand-ins for a current that is dear to know, each closer than the one before.
struct CurrentGuide {
  int levels = 2;                                                  ///< at least 2
  std::function<std::function<double(double)>(int level)> make{};  ///< asked for in order; each is kept
  std::function<double(int level)> cost{};                         ///< of making it, in currents proper
};

struct GuidedRoots {
  AmbipolarRoots found;
  int level = 0;     ///< of the last guide
  Index asked = 0;   ///< for how many fields the current proper was
  double error = 0;  ///< largest difference of the last guide from it there, over the largest current of the search
};

/// The same as ambipolar_roots(), with few currents proper. Two guides give the signs on the grid, where their
/// difference, the largest of the neighbourhood, is below the current; where it is not, a closer guide is made or the
/// current is asked for, whichever costs less. Where that finds the guides farther off than they said, they are trusted
/// less everywhere. Each root is found by the current proper, with the last guide, shifted to what was found, for the
/// next step. So all roots are found that the grid separates, provided two guides do not err alike by more than their
/// difference. Throws like ambipolar_roots().
[[nodiscard]] GuidedRoots guided_roots(const std::function<double(double)>& current, const CurrentGuide& guide,
                                       const AmbipolarOptions& options);

}  // namespace sonde::neoclassical
