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

/// A network that costs nothing: each stem is another function of the samples, not linear, different for each place in
/// a chunk and each channel, so that no two ways of joining chunks have the same result.
class Uneven final : public Network {
 public:
  void run(View<const float, 2> samples, View<float, 3> stems) override {
    const Index chunk = samples.extent[1];
    for (Index s = 0; s < stems.extent[0]; ++s) {
      for (Index c = 0; c < samples.extent[0]; ++c) {
        for (Index i = 0; i < chunk; ++i) {
          const float place = static_cast<float>(i) / static_cast<float>(chunk), sample = samples(c, i);
          stems(s, c, i) = (1 + place) * sample +
                           static_cast<float>(s + 1) * (0.1F + 0.2F * static_cast<float>(c)) * sample * sample;
        }
      }
    }
  }
  [[nodiscard]] std::vector<Time> times() const override { return {}; }
};

/// A folder, the configuration of the first reference network, and a network that stands for it.
struct Setting {
  sonde::testing::TemporaryFolder folder;
  ReferenceCase of = case_a();
  Uneven network;
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
  SeparationResult separate(const SeparationTask& task) { return separate_file(task, settings, of.config, network); }
  [[nodiscard]] std::vector<float> kick() const { return all_of(folder.file("song/kick.wav")); }
};

}  // namespace sonde::separate
