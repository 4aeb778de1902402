// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// The records of one shot, V/m or A/m. In [step][receiver], as a run makes them.
struct Gather {
  Index steps = 0, receivers = 0;
  std::vector<double> samples;

  Gather() = default;
  /// Of zeros.
  Gather(Index step_count, Index receiver_count)
      : steps(step_count), receivers(receiver_count), samples(static_cast<std::size_t>(steps * receivers)) {}

  /// [receiver][step].
  [[nodiscard]] View<double, 2> traces() { return transposed(samples.data()); }
  [[nodiscard]] View<const double, 2> traces() const { return transposed(samples.data()); }

 private:
  template <class T>
  [[nodiscard]] View<T, 2> transposed(T* first) const {
    View<T, 2> view;
    view.data = first;
    view.extent[0] = receivers;
    view.extent[1] = steps;
    view.stride[0] = 1;
    view.stride[1] = receivers;
    return view;
  }
};

}  // namespace sonde::maxwell
