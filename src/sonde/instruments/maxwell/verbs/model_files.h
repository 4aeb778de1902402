// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the #snapshot and #geometry_view commands of a model ask for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/maxwell/results/model_snapshots.h"
#include "sonde/instruments/maxwell/run/gprmax_run.h"

namespace sonde::maxwell {

/// Snapshots of run 3 of several are in the folder TRACES_snaps3, of one run in TRACES_snaps; views beside the traces,
/// each as VTK file and as picture.
class ModelFiles {
 public:
  /// `traces`: their file; empty: nothing is written, and a warning says so. Throws what require_place() throws.
  /// `input` must outlive this.
  ModelFiles(const GprmaxInput& input, Index runs, const std::string& traces);

  /// Lets the snapshots of a run look too. Of several processes each has those of its own runs, or of a divided grid
  /// one `writes` those of all.
  void add_to(Watch& watch, Index which, const GprmaxRun& run, Precision precision, bool writes = true);
  void finish_snapshots(const Ranks& ranks, Run& run);
  void write_views(const GprmaxModel& model, Run& run) const;

 private:
  [[nodiscard]] std::string folder(Index which) const;
  [[nodiscard]] std::string view(const std::string& name) const;

  const GprmaxInput& input_;
  Index runs_;
  std::string traces_;
  std::vector<std::unique_ptr<ModelSnapshots>> snapshots_;
};

}  // namespace sonde::maxwell
