// SPDX-License-Identifier: Apache-2.0
// A run's network on a GPU: how its layers are computed there, and what it holds.
#pragma once

#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/network/device_plan.h"
#include "sonde/instruments/separate/network/precision.h"

namespace sonde::separate {

struct GpuNetwork {
  DevicePlanOptions options{};
  MemoryPlan memory{};         ///< of the GPU
  std::size_t host_bytes = 0;  ///< for copies to and from it
};

/// The first of these that the GPU's budget has space for, which is a choice of the report: Winograd's transforms where
/// Plan takes them, or direct convolutions only, each with 256 or with 32 MiB for what products read. Where none fits,
/// the smallest.
[[nodiscard]] GpuNetwork plan_on_gpu(const Config& config, Precision precision, Run& run,
                                     const std::string& whose = "");

}  // namespace sonde::separate
