// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::separate {

enum class AudioFormat { wav, flac, ogg, mp3 };
enum class SampleType { pcm16, pcm24, f32 };
/// Triangular noise of two half steps before a sample becomes an integer of 16 bits, so that what is lost is noise and
/// not distortion (Lipshitz, Wannamaker and Vanderkooy 1992).
enum class Dither { triangular, off };

struct AudioWriteOptions {
  AudioFormat format = AudioFormat::wav;
  SampleType type = SampleType::f32;
  Index rate = 44100, channels = 2;
  Dither dither = Dither::triangular;
  std::uint64_t stream = 0;  ///< of the dither's random numbers: each file its own
};

/// ".wav", ".flac", ...
[[nodiscard]] std::string ending(AudioFormat format);
/// Whether samples beyond -1 to 1 are clipped.
[[nodiscard]] bool clips(const AudioWriteOptions& options);
/// Throws what an AudioWriter would throw for such a file, whatever its name: before hours of work, not after.
void check(const AudioWriteOptions& options);

/// An audio file that appears under its name when it is complete. WAV beyond 4 GiB becomes RF64.
class AudioWriter {
 public:
  /// Throws Error(bad_input) for FLAC in floating point, Error(not_supported) where libsndfile is not installed or
  /// writes no such format, Error(io) like AtomicFile.
  AudioWriter(const std::string& path, const AudioWriteOptions& options);
  AudioWriter(AudioWriter&&) noexcept;
  AudioWriter& operator=(AudioWriter&&) noexcept;
  ~AudioWriter();

  /// Appends (channels, count). Samples beyond -1 to 1 are clipped where the type is an integer. Throws Error(io).
  void write(View<const float, 2> samples);
  /// Closes the file and gives it its name.
  void commit();

  [[nodiscard]] Index clipped() const;  ///< samples so far
  [[nodiscard]] double peak() const;    ///< the largest magnitude that was given

 private:
  struct Target;
  std::unique_ptr<Target> target_;
};

}  // namespace sonde::separate
