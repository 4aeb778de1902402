// SPDX-License-Identifier: Apache-2.0
// Private to the room: snapshots of any run as frames of one file.
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/maxwell/results/frame_file.h"

namespace sonde::maxwell {

struct FrameOptions {
  std::string snapshots, snapshot_step = "1";
  std::optional<Index> snapshot_every;
  void describe(Fields& fields);
  /// Empty where no frames are wanted.
  [[nodiscard]] std::string why_not_on_gpu() const {
    return snapshots.empty() ? "" : "frames with the energy of the fields are made on the CPU";
  }
};

/// The run whose fields are written.
struct FramedRun {
  std::string title;
  GprmaxAxes axes{};
  GridSpec grid;
  XyzIndex first{}, cells{};    ///< the nodes of the padded arrays that are shown, in the axes of the file
  Xyz origin{}, spacing{};      ///< m: of plane `first`
  Index steps = 0;              ///< of the file
  double dt = 0, inner_dt = 0;  ///< s
  Precision precision = Precision::f32;
  bool depth = false;  ///< z runs downwards
};

class Frames {
 public:
  /// Without a file nothing is done. Throws Error(usage) for an ending, steps that do not fit the axes, and settings of
  /// frames without a file; and what require_place() throws.
  Frames(const FrameOptions& options, const FramedRun& of, const Run& run);

  /// Says how many frames there will be, and adds what is in memory.
  void report(MemoryPlan& memory, Run& run) const;
  /// For the first shot or run; the file is made here, by the process that speaks.
  [[nodiscard]] Watch watch();
  void finish(Run& run);

 private:
  [[nodiscard]] bool wanted() const { return !path_.empty(); }

  std::string path_;
  bool writes_;
  FramedRun of_;
  FrameSpec spec_;
  Index every_ = 1;
  std::optional<FrameFile> file_;
};

}  // namespace sonde::maxwell
