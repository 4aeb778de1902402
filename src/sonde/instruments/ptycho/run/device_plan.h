// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/base/choice.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/ptycho/model/device_pass.h"
#include "sonde/instruments/ptycho/model/device_patterns.h"
#include "sonde/instruments/ptycho/run/memory_plan.h"

namespace sonde::ptycho {

/// Where patterns wait for the kernels of a GPU, and how many are worked on together.
struct DeviceRoom {
  PatternTier patterns = PatternTier::device;
  GroupLimits groups{};
};

/// What a GPU holds whose kernels compute: a pure function of the sizes. The host holds what plan_memory() says
/// besides.
[[nodiscard]] MemoryPlan plan_device_memory(const RunSizes& sizes, const DeviceRoom& room);

/// The first that fits the device's budget with its head-room: all patterns there; patterns on the host, from where
/// they are copied group by group; smaller and smaller groups of them. Throws Error(budget) when not even single
/// patterns fit.
[[nodiscard]] Choice<DeviceRoom> choose_device_room(const RunSizes& sizes, const Budget& device);

}  // namespace sonde::ptycho
