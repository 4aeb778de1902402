// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// What turns chunks into stems: Plan on the CPU, DevicePlan on a GPU.
class Network {
 public:
  virtual ~Network() = default;

  /// One chunk (audio channels, chunk) to (stems, audio channels, chunk), both on the host. Takes no memory.
  virtual void run(View<const float, 2> samples, View<float, 3> stems) = 0;

  struct Time {
    std::string stage;   ///< of Layer, or "spectrum" and "samples"
    std::string weight;  ///< of Layer; empty without one
    std::string method;  ///< "product", "direct", "winograd", "fourier"
    double multiplications = 0;
    double seconds = 0, total_s = 0;  ///< in the last run, and in all of them
    Index calls = 0;
  };
  /// One for each layer, and the two transforms.
  [[nodiscard]] virtual std::vector<Time> times() const = 0;

 protected:
  Network() = default;
  Network(Network&&) noexcept = default;
  Network& operator=(Network&&) noexcept = default;
};

}  // namespace sonde::separate
