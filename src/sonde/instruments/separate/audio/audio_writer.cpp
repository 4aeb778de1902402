// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/audio/audio_writer.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/math/random.h"
#include "sonde/instruments/separate/audio/sndfile_functions.h"

namespace sonde::separate {
namespace {

int sndfile_format(const AudioWriteOptions& options) {
  const int type = options.type == SampleType::pcm16   ? SF_FORMAT_PCM_16
                   : options.type == SampleType::pcm24 ? SF_FORMAT_PCM_24
                                                       : SF_FORMAT_FLOAT;
  switch (options.format) {
    case AudioFormat::wav:
      return SF_FORMAT_RF64 | type;
    case AudioFormat::flac:
      return SF_FORMAT_FLAC | type;
    case AudioFormat::ogg:
      return SF_FORMAT_OGG | SF_FORMAT_VORBIS;
    case AudioFormat::mp3:
      return SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;
  }
  return 0;
}

SF_INFO description(const AudioWriteOptions& options) {
  SF_INFO info{};
  info.samplerate = static_cast<int>(options.rate);
  info.channels = static_cast<int>(options.channels);
  info.format = sndfile_format(options);
  return info;
}

}  // namespace

std::string ending(AudioFormat format) {
  switch (format) {
    case AudioFormat::wav:
      return ".wav";
    case AudioFormat::flac:
      return ".flac";
    case AudioFormat::ogg:
      return ".ogg";
    case AudioFormat::mp3:
      return ".mp3";
  }
  return "";
}

bool clips(const AudioWriteOptions& options) {
  return options.format != AudioFormat::wav || options.type != SampleType::f32;
}

void check(const AudioWriteOptions& options) {
  if (options.format == AudioFormat::flac && options.type == SampleType::f32) {
    throw Error(ErrorKind::bad_input, fmt::format("FLAC holds integers; {} = float", setting("subtype")))
        .hint(fmt::format("use {} pcm24, or {} wav", setting("subtype"), setting("format")));
  }
  const SF_INFO info = description(options);
  if (sndfile().format_check(&info) == SF_FALSE) {
    throw Error(ErrorKind::not_supported, fmt::format("{} Hz, {} channels as {}: libsndfile does not write it",
                                                      options.rate, options.channels, ending(options.format)));
  }
}

struct AudioWriter::Target {
  AudioWriteOptions options;
  AtomicFile file;
  SndfileHandle handle;
  Random random;
  Index clipped = 0;
  double peak = 0;
  std::vector<float> interleaved;
  std::vector<int> integers;

  Target(const std::string& path, const AudioWriteOptions& with)
      : options(with), file(path, {.what = "the stem"}), random(0, with.stream) {
    check(options);
    SF_INFO info = description(options);
    handle.reset(sndfile().open(file.partial_path().c_str(), SFM_WRITE, &info));
    if (handle == nullptr) fail(sndfile().error_text(nullptr));
    // A file below 4 GiB is a plain WAV, which every program reads.
    if (options.format == AudioFormat::wav) sndfile().command(handle.get(), SFC_RF64_AUTO_DOWNGRADE, nullptr, SF_TRUE);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target() = default;

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::io, fmt::format("{}: writing failed ({})", file.path(), why));
  }

  [[nodiscard]] bool integer() const {
    return options.type != SampleType::f32 &&
           (options.format == AudioFormat::wav || options.format == AudioFormat::flac);
  }

  /// To the integers of the type, in the upper bits of 32.
  void round(std::size_t count) {
    const int bits = options.type == SampleType::pcm16 ? 16 : 24;
    const double one = std::ldexp(1.0, bits - 1), most = one - 1;
    const bool dithered = options.type == SampleType::pcm16 && options.dither == Dither::triangular;
    integers.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      double value = static_cast<double>(interleaved[i]) * one;
      if (value > most + 0.5 || value < -one - 0.5) ++clipped;
      if (dithered) value += random.uniform() - random.uniform();
      value = std::clamp(std::nearbyint(value), -one, most);
      integers[i] = static_cast<int>(value) * (1 << (32 - bits));
    }
  }

  void write(View<const float, 2> samples) {
    const Index count = samples.extent[1];
    interleaved.resize(static_cast<std::size_t>(count * options.channels));
    for (Index i = 0; i < count; ++i) {
      for (Index c = 0; c < options.channels; ++c) {
        const float value = samples(c, i);
        peak = std::max(peak, std::abs(static_cast<double>(value)));
        interleaved[static_cast<std::size_t>(i * options.channels + c)] = value;
      }
    }
    Index written = 0;
    if (integer()) {
      round(interleaved.size());
      written = sndfile().write_int(handle.get(), integers.data(), count);
    } else {
      if (clips(options)) clip();  // codecs of sound wrap or distort what is beyond
      written = sndfile().write_float(handle.get(), interleaved.data(), count);
    }
    if (written != count) fail(std::strerror(errno));
  }

  void clip() {
    for (float& value : interleaved) {
      if (std::abs(value) > 1) ++clipped, value = std::clamp(value, -1.0F, 1.0F);
    }
  }
};

AudioWriter::AudioWriter(const std::string& path, const AudioWriteOptions& options)
    : target_(std::make_unique<Target>(path, options)) {}
AudioWriter::AudioWriter(AudioWriter&&) noexcept = default;
AudioWriter& AudioWriter::operator=(AudioWriter&&) noexcept = default;
AudioWriter::~AudioWriter() = default;

void AudioWriter::write(View<const float, 2> samples) { target_->write(samples); }

void AudioWriter::commit() {
  const int status = sndfile().close(target_->handle.release());
  if (status != 0) target_->fail(sndfile().error_text(nullptr));
  target_->file.commit();
}

Index AudioWriter::clipped() const { return target_->clipped; }
double AudioWriter::peak() const { return target_->peak; }

}  // namespace sonde::separate
