// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/device_pass.h"
#include "sonde/instruments/ptycho/scan/groups.h"

namespace sonde::ptycho {

struct PieSettings;

/// The updates of Pie by the kernels of a device: the frames of a batch, whose boxes do not meet, at once. A batch of
/// one frame and the whole window is the sequential order.
template <class Real>
class DevicePie {
 public:
  /// One iteration on the estimate that lives there. `box`: the part of a window in which the object changes.
  void iterate(DevicePass<Real>& pass, const PieSettings& settings, const Batches& batches, const Box& box,
               const Iteration& iteration, std::span<FrameSums> fit);

 private:
  Array next_;  // the object with a batch's changes, which the members of the batch do not see
  Array box_;   // four i64, the fields of a Box
};

}  // namespace sonde::ptycho
