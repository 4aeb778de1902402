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

/// How a network cuts the signal; unset: as its configuration says.
struct ChunkOptions {
  std::optional<Index> overlap, chunk, frames;
  /// Throws Error(usage) for both of chunk and frames, and Error(bad_input) for what does not fit the network.
  [[nodiscard]] Config applied_to(Config config) const;
};

/// What each network of a run separates: every input, and with a second network a stem of every input.
struct RunTasks {
  std::vector<SeparationTask> songs, stems{};
};

struct RunOptions {
  std::vector<std::string> inputs;
  std::string output;
  ModelOptions model, second;  ///< the second without a checkpoint: there is one network
  ChunkOptions chunks, second_chunks;
  std::string second_stem = "drums";
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
  [[nodiscard]] bool has_second() const { return !second.files.checkpoint.empty(); }
  /// Throws Error(usage) where a setting of a second network is given and there is none.
  void check_second() const;
  /// Throws Error(usage) and Error(bad_input) for what does not fit the format of the files.
  [[nodiscard]] SeparationSettings settings(const Config& config) const;
  /// The configuration of the second network with what the caller changes. Throws what ChunkOptions throws.
  [[nodiscard]] Config second_config(const Config& of) const;
  [[nodiscard]] SeparationSettings second_settings(const Config& config) const;
  /// Every file that will be written, by the first network with these settings and by the second one; the stem is named
  /// as if it were the file that is separated. Throws Error(bad_input) where one would be written twice.
  [[nodiscard]] RunTasks tasks(const Config& config, const SeparationSettings& settings,
                               const Config* second_config) const;

 private:
  [[nodiscard]] SampleType sample_type() const;
  [[nodiscard]] SeparationTask placed(const std::string& input, const std::vector<Output>& outputs,
                                      const std::string& folder, PathWords words) const;
};

/// The error with the settings that the second network has in place of those of the first.
[[nodiscard]] Error with_settings_of_second(const Error& error);
/// Runs `body`, of whose errors it makes these.
template <class Body>
auto of_second_network(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& error) {
    throw with_settings_of_second(error);
  }
}
}  // namespace sonde::separate
