// SPDX-License-Identifier: Apache-2.0
// Private to the room: what runs of models of gprMax and of native ones have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/engine/report/progress.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/maxwell/grid/precision.h"
#include "sonde/instruments/maxwell/read/experiment.h"
#include "sonde/instruments/maxwell/run/run_plan.h"

namespace sonde::maxwell {

struct RunOptions {
  std::string input, output, plot;
  std::vector<std::string> set;
  Index runs = 1;
  int order = 2;
  Precision dtype = Precision::f32;
  PmlPreset pml_preset = PmlPreset::gprmax;
  bool force = false;
  void describe(Fields& fields);
};

/// A native model (.h5), a run file (.toml), or the tables of one by themselves.
[[nodiscard]] bool is_native(const std::string& input);
void run_native(const RunOptions& options, Run& run);

/// A model in the words of its file.
struct PlannedModel {
  std::string input;
  std::string grid, about_grid;  ///< "40 x 60", "cells along z, x ..."
  double dt = 0;                 ///< s, of the file
  Index steps = 0;               ///< inner ones
  int order = 2;
};
/// Says warnings, grid, steps, sampling and memory. Throws Error(bad_input) for cells that are too large, unless that
/// is `force`d.
void report_plan(const RunPlan& plan, const PlannedModel& model, bool force, Run& run);

/// Does that many steps of so many cells in `work`, shows progress and reports the rate.
void simulate(Index cells, Index steps, Run& run, const std::function<void(ProgressMeter&)>& work);

void wrote(const std::string& path, Run& run);
void require_plot(const std::string& path);
void draw(const Chart& chart, const std::string& path, Run& run);

}  // namespace sonde::maxwell
