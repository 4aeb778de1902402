// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/constrain/constraints.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/device_patterns.h"
#include "sonde/instruments/ptycho/opr/probe_relaxation.h"
#include "sonde/instruments/ptycho/positions/correct.h"
#include "sonde/instruments/ptycho/reconstruct/stop.h"

namespace sonde::ptycho {

/// One engine of a run, and for how long.
struct EngineRun {
  std::string name;
  Index iterations = 100;
  std::shared_ptr<const EngineSetup> setup;
  Index most_batch = std::numeric_limits<Index>::max();  ///< frames of a batch, whatever its settings say
};

/// What happens to the estimate, in order.
struct Schedule {
  std::vector<EngineRun> engines;
  Index object_start = 1, probe_start = 2;  ///< first iteration in which each is free
  PositionSettings positions;
  OprSettings opr;
  std::vector<ChosenConstraint> constraints;
  /// What constraints may know; unset: only the mean counts.
  std::shared_ptr<const ConstraintContext> known{};
  StopSettings stop;
  std::optional<double> holdout;  ///< share of the frames that only judge; unset: chosen
  std::vector<Index> skip;        ///< frames that take no part at all
  std::uint64_t seed = 1;
  /// How the plans of Fourier transforms are found. Measured ones may round differently from one measurement to the
  /// next.
  FftEffort transforms = FftEffort::measured;
  /// The GPU whose kernels compute; unset: the CPU's threads do. Constraints stay with the CPU, on the estimate that
  /// comes back after every iteration. The CPU as this device plays the kernels on one thread, for tests.
  std::optional<Device> kernels{};
  PatternTier patterns = PatternTier::device;  ///< where they wait for kernels
  WorkLimits limits{};
  /// Several processes: measurement, state and propagators are this one's part; skip and hold-out number the scan.
  std::shared_ptr<Share> share{};
};

/// Why a schedule cannot be computed by kernels ("the engine epie has no kernels for a GPU"); empty when it can.
[[nodiscard]] std::string why_no_kernels(const Schedule& schedule);

/// Throws Error(not_supported) naming the first engine, constraint or correction of positions that several processes
/// cannot share.
void require_shareable(const Schedule& schedule);

}  // namespace sonde::ptycho
