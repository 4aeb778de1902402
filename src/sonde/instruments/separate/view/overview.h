// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/audio/audio_reader.h"
#include "sonde/instruments/separate/results/spectrogram.h"

namespace sonde::separate {

/// Frames [first, first + count) of a file, in equal columns.
struct Stretch {
  Index first = 0, count = 0, columns = 0;  ///< count, columns >= 1
};

/// What is drawn of an audio file with one or two channels, from one pass over it that is made bit by bit: smallest and
/// largest samples and squares of blocks of 256 samples, and levels of 96 bands every 1024. Of long files blocks and
/// distances are longer, so that nothing takes more than bytes_for() whatever the length. Not thread-safe.
class Overview {
 public:
  static constexpr double range_db = 90;  ///< of levels(): below a full sine
  /// Throws what AudioReader throws.
  explicit Overview(const std::string& path);
  [[nodiscard]] static std::size_t bytes_for(Index frames);
  /// Bands of levels(), evenly on a logarithmic axis.
  [[nodiscard]] const SpectrogramStyle& style() const { return style_; }

  /// Continues the pass for about so long.
  void advance(std::chrono::milliseconds at_most);
  /// The part of the file that the pass has seen, 1 when it has ended.
  [[nodiscard]] double done() const;

  /// (3, columns): the smallest, the largest and the root mean square of all channels' samples; not-a-number where the
  /// pass has not been. Columns shorter than a block are read from the file.
  [[nodiscard]] std::vector<float> peaks(const Stretch& stretch) const;
  /// (bands, columns), the lowest band first: 255 is 0 dB, 0 is -range_db or less, or where the pass has not been.
  [[nodiscard]] std::vector<std::uint8_t> levels(const Stretch& stretch) const;

 private:
  struct Block {
    float low, high, squares;
  };
  void take(const std::vector<float>& samples);
  void end_windows(bool at_end);
  [[nodiscard]] std::vector<Block> blocks_of(const Stretch& stretch) const;

  std::string path_;
  AudioInfo info_;
  AudioReader reader_;
  SpectrogramStyle style_;
  BandPowers powers_;
  Index block_, hop_;
  Index seen_ = 0, windows_ = 0;  ///< frames, and columns of levels
  bool ended_ = false;
  std::vector<Block> blocks_;
  std::vector<std::uint8_t> levels_;      ///< (windows, bands)
  std::vector<std::vector<float>> held_;  ///< of each channel, for the next windows
  Index held_from_;                       ///< frame of their first sample; below 0 in front of the file
};

}  // namespace sonde::separate
