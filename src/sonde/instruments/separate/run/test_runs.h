// SPDX-License-Identifier: Apache-2.0
// Files that the tests of this room separate, and with what.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "sonde/instruments/separate/network/test_cases.h"
#include "sonde/instruments/separate/run/separation.h"
#include "tests/support/files.h"

namespace sonde::separate {

/// Two channels of a wave.
inline std::vector<float> song(Index count) {
  std::vector<float> samples(static_cast<std::size_t>(2 * count));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 0.2F * std::sin(0.011F * static_cast<float>(i));
  return samples;
}

/// (2, count) of a file.
inline std::vector<float> all_of(const std::string& path) {
  AudioReader reader(path, {});
  return reader.read(reader.frames());
}

/// A folder, the first of the reference networks, and how it separates.
struct Setting {
  sonde::testing::TemporaryFolder folder;
  ReferenceCase of = case_a();
  Plan plan = Plan::prepare(of.config, formula_values(of.config, of.seed));
  SeparationSettings settings{.overlap = 2};

  SeparationTask task(const std::vector<float>& samples, const Sums& sums = {}, const std::string& name = "song",
                      Index rate = 44100) const {
    AudioWriter writer(folder.file(name + ".wav"), {.rate = rate});
    writer.write({samples.data(), 2, static_cast<Index>(samples.size()) / 2});
    writer.commit();
    SeparationTask made{.input = folder.file(name + ".wav"), .outputs = choose_outputs(of.config.stems(), "", sums)};
    for (const Output& each : made.outputs) made.paths.push_back(folder.file(name + "/" + each.name + ".wav"));
    made.record = folder.file(name + "/separation");
    return made;
  }
  SeparationResult separate(const SeparationTask& task) { return separate_file(task, settings, of.config, plan); }
  [[nodiscard]] std::vector<float> kick() const { return all_of(folder.file("song/kick.wav")); }
};

}  // namespace sonde::separate
