// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/device/device.h"

namespace sonde::neoclassical {

/// What a device must solve as the CPU does before it is given work: machines have been seen where one GPU of several
/// computes wrongly, and tells nobody.
struct SmokeSolve {
  /// The largest relative difference of a coefficient from the CPU's; infinite where there is none.
  double difference = 0;
  std::string failure{};  ///< why it does not pass, in words; empty: it does

  /// Rounding of well-conditioned cases stays four digits below.
  static constexpr double tolerance = 1e-9;
};

/// 64 cases of the built-in analytic surface on 9x11x6, without and with electric field. Throws nothing of the device.
[[nodiscard]] SmokeSolve smoke_solve(Device device);

/// The first of some devices that passes, and how those fared that were asked.
struct SoundDevice {
  std::optional<Device> device{};
  std::vector<std::pair<Device, SmokeSolve>> checks{};
};
[[nodiscard]] SoundDevice first_sound(std::span<const Device> devices,
                                      const std::function<SmokeSolve(Device)>& check = smoke_solve);

}  // namespace sonde::neoclassical
