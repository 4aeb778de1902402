// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/device/device.h"

namespace sonde::neoclassical {

/// What a device must solve as the CPU does before it is given work: machines have been seen where one GPU of several
/// computes wrongly, without any sign of it.
struct SmokeSolve {
  /// The largest relative difference of a coefficient from the CPU's; infinite where there is none.
  double difference = 0;
  std::string failure{};  ///< why it does not pass, in words; empty: it does

  /// Rounding of well-conditioned cases stays four digits below.
  static constexpr double tolerance = 1e-9;
};

/// 64 cases of the built-in analytic surface on 9x11x6, without and with electric field. Throws nothing of the device.
[[nodiscard]] SmokeSolve smoke_solve(Device device);

/// Which device solves points in batches, and how those fared that were asked.
struct BatchDeviceChoice {
  Choice<Device> chosen;
  std::vector<std::pair<Device, SmokeSolve>> checks{};
};

/// The first GPU that passes, of those that `asked` allows: "auto" and "cuda" all of this machine, "cuda:1" that one,
/// "cpu" none. The CPU, with the reason: for `why_not` (empty: no reason), or when no GPU is sound and `asked` is
/// "auto". Throws Error(not_supported) where a GPU was asked for against `why_not`, and Error(device) where it is not
/// there or not sound, as well as what Device::parse() throws.
[[nodiscard]] BatchDeviceChoice choose_batch_device(const std::string& asked, const std::string& why_not);
/// The same of some GPUs, by another check.
[[nodiscard]] BatchDeviceChoice choose_sound_device(std::span<const Device> gpus, bool or_cpu,
                                                    const std::function<SmokeSolve(Device)>& check);

}  // namespace sonde::neoclassical
