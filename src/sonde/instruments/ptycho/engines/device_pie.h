// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/device_pass.h"
#include "sonde/instruments/ptycho/scan/groups.h"

namespace sonde::ptycho {

namespace device {
template <class Real>
struct Complex;
}

struct PieSettings;

/// What the object's momentum remembers, on the device; null without momentum.
template <class Real>
struct Momentum {
  device::Complex<Real>*velocity = nullptr, *before = nullptr;  ///< of all slices
  Index* updates = nullptr;                                     ///< since the last kick
};

/// The updates of Pie by the kernels of a device: the frames of a batch, whose boxes do not meet, at once. A batch of
/// one frame and the whole window is the sequential order.
template <class Real>
class DevicePie {
 public:
  /// One iteration on the estimate that lives there. `box`: the part of a window in which the object changes.
  /// `momentum` is at the same addresses in every call.
  void iterate(DevicePass<Real>& pass, const PieSettings& settings, const Batches& batches, const Box& box,
               const Momentum<Real>& momentum, const Iteration& iteration, std::span<FrameSums> fit);

 private:
  Array next_;  // the object with a batch's changes, which the members of the batch do not see
  Array box_;   // four i64, the fields of a Box
};

}  // namespace sonde::ptycho
