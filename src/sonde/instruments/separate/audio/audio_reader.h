// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/audio/resampler.h"

namespace sonde::separate {

/// What becomes of more than two channels.
enum class Downmix {
  refuse,
  first_two,  ///< the first two channels
  mean,       ///< the mean of all, in both
};
/// What becomes of samples that are no numbers.
enum class NonFinite { refuse, zero };

struct AudioReadOptions {
  Index rate = 44100;  ///< of what is delivered
  Index channels = 2;  ///< of what is delivered; a single channel of the file is put into each
  double from_s = 0;   ///< where to begin, seconds of the file
  double seconds = std::numeric_limits<double>::infinity();  ///< at most so many
  Downmix downmix = Downmix::refuse;
  NonFinite non_finite = NonFinite::refuse;
  ResampleQuality quality = ResampleQuality::very_high;
};

/// What a file says of itself.
struct AudioInfo {
  std::string format;  ///< "WAV, 16 bit"
  Index rate = 0, channels = 0;
  Index frames = 0;  ///< samples of each channel in the file
};

/// Samples that are not in a file.
struct AudioSamples {
  std::string name;  ///< stands for the path in messages
  AudioInfo info;
  /// Puts the next so many, with all channels of each, there.
  std::function<void(float* to, Index count)> read{};
};

/// An audio file, decoded piece by piece: WAV, AIFF, FLAC, Ogg (Vorbis, Opus) and MP3, by libsndfile. Integers are
/// divided by 2^(bits - 1); floating-point samples are kept, beyond 1 too.
class AudioReader {
 public:
  /// Throws Error(bad_file) for what is missing, damaged, cut off, empty or not audio, Error(not_supported) for M4A,
  /// AAC, WMA and video (with how to convert them) and where libsndfile is not installed, Error(bad_input) for more
  /// channels than `options.channels` without a downmix, and for a beginning behind the end.
  AudioReader(const std::string& path, const AudioReadOptions& options);
  /// The same of samples from the first one on, as if they were in a file of float32.
  AudioReader(const AudioSamples& samples, const AudioReadOptions& options);
  AudioReader(AudioReader&&) noexcept;
  AudioReader& operator=(AudioReader&&) noexcept;
  ~AudioReader();

  [[nodiscard]] const AudioInfo& info() const;
  /// Samples of each channel that will be delivered: known before they are for every format but damaged files.
  [[nodiscard]] Index frames() const;
  /// The same at the rate of the file.
  [[nodiscard]] Index source_frames() const;

  /// The next samples, channel after channel: (channels, count) with at most `most` of each. Empty at the end. Throws
  /// Error(bad_file) where the file is damaged, Error(bad_input) naming channel and time for samples that are no
  /// numbers.
  [[nodiscard]] std::vector<float> read(Index most);
  /// Samples that were no numbers so far, and became 0.
  [[nodiscard]] Index zeroed() const;

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

}  // namespace sonde::separate
