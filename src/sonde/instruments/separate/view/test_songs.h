// SPDX-License-Identifier: Apache-2.0
// Files of known samples for the tests of this room.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "sonde/instruments/separate/audio/audio_writer.h"

namespace sonde::separate {

/// A WAV file of float32, samples (channels, count).
inline void write_wav(const std::string& path, const std::vector<float>& samples, Index channels = 1,
                      Index rate = 8000) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  AudioWriter writer(path, {.rate = rate, .channels = channels});
  writer.write({samples.data(), channels, static_cast<Index>(samples.size()) / channels});
  writer.commit();
}

/// Hits of a drum every half second from `first_s` on: noise that fades within 50 ms.
inline std::vector<float> hits(double seconds, double first_s, Index rate = 8000) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * static_cast<double>(rate)));
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double since = std::fmod(static_cast<double>(i) / static_cast<double>(rate) - first_s + 100, 0.5);
    state = state * 1664525u + 1013904223u;
    const double noise = static_cast<double>(state >> 8) / (1 << 23) - 1;
    samples[i] = static_cast<float>(0.5 * noise * std::exp(-since / 0.01));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(first_s * static_cast<double>(rate)); ++i) samples[i] = 0;
  return samples;
}

}  // namespace sonde::separate
