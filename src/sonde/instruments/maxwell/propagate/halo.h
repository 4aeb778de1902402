// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <vector>

namespace sonde::maxwell::stepping {

template <class T>
struct Stepper;

/// What goes to the neighbours of a part and comes from them, by axis and side; kept from step to step.
template <class T>
struct HaloBuffers {
  std::array<std::array<std::vector<T>, 2>, 3> sent{}, received{};
};

/// Behind a step of a part (GridPart): E of the halo is that of the neighbours. Transposed: what its layers carry too.
/// Along z, then y, then x, each with the halos before it, so that edges and corners come in two or three moves.
template <class T>
void exchange_halos(Stepper<T>& part, HaloBuffers<T>& buffers);

extern template void exchange_halos(Stepper<float>&, HaloBuffers<float>&);
extern template void exchange_halos(Stepper<double>&, HaloBuffers<double>&);

}  // namespace sonde::maxwell::stepping
