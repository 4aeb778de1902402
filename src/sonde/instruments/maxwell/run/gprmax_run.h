// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/maxwell/grid/precision.h"
#include "sonde/instruments/maxwell/propagate/problem.h"
#include "sonde/instruments/maxwell/read/gprmax_model.h"
#include "sonde/instruments/maxwell/run/live_fields.h"
#include "sonde/instruments/maxwell/run/processes.h"
#include "sonde/instruments/maxwell/run/run_plan.h"

namespace sonde::maxwell {

/// What a user may decide beside the file.
struct GprmaxRunOptions {
  int order = 2;
  Precision precision = Precision::f32;
  Index runs = 1;  ///< how many are made one after the other, whose traces are all kept
  Device device = Device::cpu();
  Processes processes{};  ///< that have parts of the grid; runs are shared by who calls
};

/// Samples of one receiver, [iterations], by component in the axes of the file: sample n is E at n dt and H at (n -
/// 1/2) dt, as gprMax records them before step n.
struct GprmaxTrace {
  Component component;
  std::vector<double> samples;
};
struct GprmaxRecord {
  GprmaxAcquisition acquisition;                 ///< of this run
  std::vector<std::vector<GprmaxTrace>> traces;  ///< [receiver]
};

/// The highest frequency in the waveforms of a model's sources (signal/wavelet.h), Hz.
[[nodiscard]] double highest_frequency(const GprmaxInput& input);

/// The runs of a gprMax model: prepared once, then one after the other.
class GprmaxRun {
 public:
  /// Throws what coefficients() and the waveforms throw.
  GprmaxRun(const GprmaxInput& input, GprmaxModel model, const GprmaxRunOptions& options);
  ~GprmaxRun();
  GprmaxRun(GprmaxRun&&) noexcept;

  [[nodiscard]] const GprmaxModel& model() const;
  [[nodiscard]] const RunPlan& plan() const;
  /// Cells and inner steps of one run.
  [[nodiscard]] Index cells() const;
  [[nodiscard]] Index steps() const;

  /// What the runs are made with, and run 0, 1, ... as a shot of it: its traces are those of the receivers' outputs
  /// that are not zero in two dimensions, one after the other, from the second iteration on.
  [[nodiscard]] Operator& waves();
  [[nodiscard]] Shot shot(Index which) const;
  /// Amplitude of a shot per sample of the source's waveform.
  [[nodiscard]] double moment_of(const GprmaxSourcePoint& source) const;
  /// As the function of that name in run_plan.h.
  [[nodiscard]] std::size_t add_medium(MemoryPlan& memory) const;

  /// Run 0, 1, ... with its sources and receivers moved; `stepped` is called after each inner step. The first one makes
  /// the factors. Ends between steps when asked to stop.
  /// Steps of the watch are samples of the traces: it sees the fields that gprMax records before its step n, at n.
  [[nodiscard]] GprmaxRecord run(Index which, const std::function<void()>& stepped = {}, const Watch& watch = {}) {
    return record(which, samples(which, stepped, watch));
  }
  /// The same in two steps, for several processes: the numbers that a run records, and their record.
  [[nodiscard]] std::vector<double> samples(Index which, const std::function<void()>& stepped, const Watch& watch);
  [[nodiscard]] GprmaxRecord record(Index which, std::span<const double> samples) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sonde::maxwell
