// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/separate/audio/audio_reader.h"

namespace sonde::separate {

/// An audio file of a song.
struct Track {
  std::string path, name;  ///< name: of the file, without its ending
  AudioInfo info{};
  /// How far passes agree on it, from the summary: {"seconds", "passes", "all", "db": [number or null, ...]};
  /// null without.
  Value agreement{};
};

/// Stems that sound together.
struct Song {
  std::string name;
  Index rate = 0, channels = 0, frames = 0;  ///< of every stem; channels: 1, or 2 where any has two
  std::vector<Track> tracks{};               ///< the stems by name, then what they were made of, where it is there
  bool has_mixture = false;                  ///< the last track; at its own rate
  [[nodiscard]] Index stems() const { return static_cast<Index>(tracks.size()) - (has_mixture ? 1 : 0); }
};

/// The songs in a folder: its audio files, those of each folder in it, and what was made of a stem of these, in a
/// folder of its name (`song/drums/kick.wav` beside `song/drums.wav`). A file `mixture` or `mix` is what the others
/// were made of; without it the input of separation.json, if it is found there, beside that file or beside its folder,
/// and is as long as the stems. Empty for a folder that has no audio files, or HDF5 files beside them. Throws
/// Error(bad_input) for stems of one song with different rates or lengths, and for more than two channels or 64 stems;
/// what AudioReader throws.
[[nodiscard]] std::vector<Song> find_songs(const std::string& folder);

}  // namespace sonde::separate
