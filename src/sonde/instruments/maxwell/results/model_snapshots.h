// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/instruments/maxwell/results/frame_file.h"
#include "sonde/instruments/maxwell/results/vti_file.h"

namespace sonde::maxwell {

/// A folder for results that appear together: made with the first file if it is absent, and then removed again if it
/// ends up empty, as is one in which a run that was killed has left nothing but unfinished files.
class ResultFolder {
 public:
  explicit ResultFolder(std::string path) : path_(std::move(path)) {}
  ~ResultFolder();
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name);

 private:
  std::string path_;
  bool used_ = false, made_ = false;
};

/// The #snapshot commands of one run of a model: E and H at the centres of cells before the step that each names,
/// one file each in a folder, as gprMax writes them. A name that ends in .vti is VTK ImageData with E-field and H-field
/// as in the files of gprMax; others are FrameFile of one frame, with ".h5" behind the name if it is not there.
class ModelSnapshots {
 public:
  /// Without a folder nothing is written: the part of a process whose fields another one gathers.
  ModelSnapshots(const GprmaxModel& model, Precision precision, double inner_dt, const std::string& folder);

  /// The file of a snapshot in its folder: "slice.h5".
  [[nodiscard]] static std::string file_name(const GprmaxSnapshotBox& box);
  /// To be called before each step of the run and behind the last one.
  void look(Index step, const LiveFields& fields);
  /// Gives the files their names, and returns them.
  [[nodiscard]] std::vector<std::string> finish();

 private:
  void write(const GprmaxSnapshotBox& box, const LiveFields& fields);
  void write_image(const std::string& name, const Sampling& sampling, const LiveFields& fields);

  const GprmaxModel& model_;
  Precision precision_;
  double inner_dt_;
  std::optional<ResultFolder> folder_;  // before the files, which are removed first
  std::vector<FrameFile> arrays_;
  std::vector<VtiFile> images_;
};

}  // namespace sonde::maxwell
