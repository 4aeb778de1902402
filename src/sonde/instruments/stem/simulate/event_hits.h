// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/stem/simulate/simulate.h"

namespace sonde::stem {

/// What simulate_events() will write and hold.
struct EventSimulationPlan {
  Index positions = 0;
  double electrons = 0;   ///< expected
  double file_bytes = 0;  ///< of the raw data, expected
  double duration_s = 0;  ///< of the scan
  MemoryPlan memory;
};

/// A pure function of the options. Throws like model_of(), Error(usage) for a dwell that is no time, and
/// Error(bad_input) for a detector that is larger than a chip of 256 x 256 pixels.
[[nodiscard]] EventSimulationPlan plan_events_simulation(const SimulateOptions& options);

/// "NAME_truth.h5" for "NAME.tpx3". Throws Error(usage) for another name.
[[nodiscard]] std::string events_truth_path(const std::string& output);

/// Writes the scan of sample `events` as the raw data of a Timepix3 detector (packets.h): electrons are the Poisson
/// counts of the model, each at a time that is uniform within its dwell. Lines begin at rises of TDC1 and end in a
/// flyback of a quarter of their length, in which electrons fall as well. Three electrons in five also hit the pixel to
/// their right, up to 30 ns later and with less time over threshold. Words are up to 100 us out of order, in chunks of
/// 2000; global time comes with every line; the counter of hits starts again at 0 in the middle of the scan.
///
/// The truth (unless left out) has `parameters` as other simulations, and of the electrons of the scan, those of
/// position p in ascending order of time from offsets[p] to offsets[p + 1]: `events/index` (row * columns + column,
/// u32) and `events/ticks` (i64, steps of 1.5625 ns), and `flyback`, how many fell in flybacks. Equal options give
/// equal bytes. Reports progress, answers interrupts. Throws what plan_events_simulation() throws, Error(io),
/// Error(budget).
Simulated simulate_events(const SimulateOptions& options, Budget budget = Budget::automatic(Device::cpu()));

}  // namespace sonde::stem
