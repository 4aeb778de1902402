// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/instruments/separate/audio/audio_reader.h"
#include "sonde/instruments/separate/run/outputs.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/run/spool.h"
#include "sonde/instruments/separate/run/stem_files.h"

namespace sonde::separate {

/// A stem of a file, or a sum of stems, as what the next network separates. Its samples are those that a file of
/// float32 would hold, at the rate of the network that made it: they come from what is kept of the file on disk.
struct StemSource {
  SeparationTask song;                  ///< what it is made of
  const SeparationSettings& settings;   ///< with which that is separated
  const Config& config;                 ///< of the network that does
  Output stem;                          ///< of that network
  AudioInfo info{};                     ///< of the stem
  SourceLength song_length{};           ///< for stems that keep the rate of the file
  std::shared_ptr<const Spool> kept{};  ///< nothing before the song is separated: lengths are known, samples are not
};

/// What a stem of this file will be. Reads the head of the file. Settings and configuration must live as long.
[[nodiscard]] StemSource stem_of(const SeparationTask& song, const Output& stem, const SeparationSettings& settings,
                                 const Config& config);

/// What a task separates: its file, or its stem. Throws what AudioReader throws.
[[nodiscard]] AudioReader open_input(const SeparationTask& task, const AudioReadOptions& options);

}  // namespace sonde::separate
