// SPDX-License-Identifier: Apache-2.0
// Private to the room: what runs of models of gprMax and of native ones have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/tier.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/report/progress.h"
#include "sonde/engine/run/join_ranks.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/maxwell/grid/precision.h"
#include "sonde/instruments/maxwell/read/experiment.h"
#include "sonde/instruments/maxwell/read/observed_data.h"
#include "sonde/instruments/maxwell/run/gprmax_run.h"
#include "sonde/instruments/maxwell/run/run_file.h"
#include "sonde/instruments/maxwell/run/run_plan.h"
#include "sonde/instruments/maxwell/verbs/frames.h"

namespace sonde::maxwell {

/// The model of a verb, and how it is computed.
struct ModelOptions {
  std::string input;
  std::vector<std::string> set;
  int order = 2;
  Precision dtype = Precision::f32;
  PmlPreset pml_preset = PmlPreset::gprmax;
  bool force = false;
  std::string decompose;
  void describe_input(Fields& fields);
  void describe_computing(Fields& fields);
  void describe_parts(Fields& fields);
  /// `decompose` along x, y, z; nothing where it is not set or 1x1x1. Throws Error(usage) for other texts and where it
  /// is not one part for each rank.
  [[nodiscard]] std::optional<XyzIndex> parts(const Ranks& ranks) const;
  /// What a user calls it.
  [[nodiscard]] std::string named() const { return input.empty() ? "the model" : input; }
};

struct RunOptions : ModelOptions {
  std::string output, plot, accuracy;
  Index runs = 1;
  bool geometry_only = false;
  FrameOptions frames;
  void describe(Fields& fields);
};

/// A native model (.h5), a run file (.toml), or the tables of one by themselves.
[[nodiscard]] bool is_native(const std::string& input);
/// Reads the run file of a native model; what the caller says counts more than the file.
void read_settings(const ModelOptions& options, const Run& run, RunFile& file);
/// The records of [data], whose times count where neither the run file nor its model says any.
[[nodiscard]] ObservedData read_data(RunFile& file, Run& run);
/// The experiment that the file describes, in memory that the run may hold.
[[nodiscard]] Experiment experiment_of(const ModelOptions& options, const RunFile& file, Run& run);
void run_native(const RunOptions& options, Run& run);

/// A model in the words of its file.
struct PlannedModel {
  std::string input;
  std::string grid, about_grid;  ///< "40 x 60", "cells along z, x ..."
  double dt = 0;                 ///< s, of the file
  Index steps = 0;               ///< inner ones
  int order = 2;
};
/// Of an experiment, `cells` with the layers; of a model of gprMax.
[[nodiscard]] PlannedModel planned(const Experiment& experiment, const ModelOptions& options, Index cells, Index steps);
[[nodiscard]] PlannedModel planned(const GprmaxRun& gprmax, const ModelOptions& options);
/// The runs of a model of gprMax, which must record something and have space for all of them.
[[nodiscard]] GprmaxRun prepare_gprmax(const ModelOptions& options, const GprmaxInput& input, Index runs,
                                       const Ranks& ranks, Run& run);
/// Of a native model.
[[nodiscard]] Processes processes_of(const ModelOptions& options, const Ranks& ranks);
/// Throws Error(usage) for settings of a run file, which have no meaning for a model of gprMax.
void refuse_tables(const ModelOptions& options, const Run& run);
/// All ranks of a run. In the report they share `what`, "the shots", unless the model says that they divide its grid.
[[nodiscard]] Ranks join_ranks(const ModelOptions& options, const char* what, Run& run);
/// Empty for one process.
[[nodiscard]] std::string why_not_on_gpu(const Ranks& ranks);
/// The remedy where memory is short.
[[nodiscard]] std::string smaller_model();
/// Says warnings, grid, steps, sampling and memory. Throws Error(bad_input) for cells that are too large, unless that
/// is `force`d.
void report_plan(const RunPlan& plan, const PlannedModel& model, bool force, Run& run);
/// What work on the run's device may hold of each memory, stores in `folder`; ranks share the disk.
[[nodiscard]] TierBudgets budgets_of(const std::string& folder, const Ranks& ranks, Run& run);
/// What the run holds of the GPU that computes, but for bytes that are reserved otherwise; nothing of the CPU.
[[nodiscard]] Reservation reserve_on_device(const RunPlan& plan, const std::string& input, Run& run,
                                            std::size_t but_for = 0);

/// How steps went through memory, once some have run on the CPU.
void report_steps_together(const Operator& waves, Run& run);
/// Does that many steps of so many cells in `work`, shows progress and reports the rate.
void simulate(Index cells, Index steps, Run& run, const std::function<void(ProgressMeter&)>& work);

}  // namespace sonde::maxwell
