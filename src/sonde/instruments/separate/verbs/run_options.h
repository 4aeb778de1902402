// SPDX-License-Identifier: Apache-2.0
// Private to the room: the settings of `separate run`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/separate/network/precision.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/verbs/model_options.h"

namespace sonde::separate {

struct RunOptions {
  std::vector<std::string> inputs;
  std::string output;
  ModelOptions model;
  std::optional<Index> overlap, chunk, frames;
  Policy policy = Policy::fade;
  Index shifts = 1;
  bool tta = false, preview = false, quality = false;
  std::string batch = "auto";
  bool tune = false;
  Precision precision = Precision::automatic;
  bool verify_precision = false;
  std::string stems;
  Sums sums;
  AudioFormat format = AudioFormat::wav;
  std::string subtype = "auto";
  std::string pattern = "{file}/{stem}";
  Clip clip = Clip::warn;
  bool keep_rate = false;
  Dither dither = Dither::triangular;
  bool midi = false;
  bool recursive = false, resume = false;
  Downmix downmix = Downmix::refuse;
  NonFinite nan = NonFinite::refuse;
  ResampleQuality resample_quality = ResampleQuality::very_high;
  std::string start = "0";
  std::optional<double> seconds;

  void describe(Fields& fields);
  /// Throws Error(usage) and Error(bad_input) for what does not fit the format of the files.
  [[nodiscard]] SeparationSettings settings(const Config& config) const;
  /// The configuration of the model with what the caller changes. Throws what check() throws.
  [[nodiscard]] Config config_of(const Model& of) const;
  /// Every file that will be written. Throws Error(bad_input) where one would be written twice.
  [[nodiscard]] std::vector<SeparationTask> tasks(const Config& config) const;

 private:
  [[nodiscard]] SampleType sample_type() const;
};

}  // namespace sonde::separate
