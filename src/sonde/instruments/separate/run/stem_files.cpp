// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/stem_files.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sonde/engine/base/interrupt.h"

namespace sonde::separate {
namespace {

constexpr Index samples_of_piece = 16384;

/// One output on its way: at the rate of the file, measured, and written where there is a file.
class OutputStream {
 public:
  OutputStream(const StemWriteSettings& settings, const SourceLength& source) : channels_(settings.file.channels) {
    if (!settings.keep_rate || source.rate == settings.file.rate) return;
    resampler_.emplace(settings.file.rate, source.rate, channels_, settings.quality);
    left_ = source.samples;
  }

  void write_to(const std::string& path, const AudioWriteOptions& options) { writer_.emplace(path, options); }

  /// Samples one after the other, with all channels of each.
  void take(const std::vector<float>& interleaved) {
    if (!resampler_) return give(interleaved);
    if (interleaved.empty()) return;  // which would end the resampler
    resampled_.clear();
    resampler_->process(interleaved, resampled_);
    give_wanted();
  }

  void finish() {
    if (!resampler_) return;
    resampled_.clear();
    resampler_->process({}, resampled_);
    resampled_.resize(std::max(resampled_.size(), static_cast<std::size_t>(left_ * channels_)));
    give_wanted();
  }

  void commit() { writer_->commit(); }

  [[nodiscard]] WrittenStems::Stem heard() const {
    return {.peak = peak_,
            .rms = std::sqrt(squares_ / std::max(1.0, static_cast<double>(count_))),
            .clipped = writer_ ? writer_->clipped() : 0};
  }

 private:
  void give_wanted() {
    resampled_.resize(std::min(resampled_.size(), static_cast<std::size_t>(left_ * channels_)));
    left_ -= static_cast<Index>(resampled_.size()) / channels_;
    give(resampled_);
  }

  void give(const std::vector<float>& interleaved) {
    for (const float value : interleaved) {
      const auto x = static_cast<double>(value);
      peak_ = std::max(peak_, std::abs(x));
      squares_ += x * x;
    }
    const Index count = static_cast<Index>(interleaved.size()) / channels_;
    count_ += count * channels_;
    if (!writer_ || count == 0) return;
    View<const float, 2> samples(interleaved.data(), channels_, count);
    samples.stride[0] = 1, samples.stride[1] = channels_;
    writer_->write(samples);
  }

  Index channels_;
  std::optional<Resampler> resampler_;
  std::optional<AudioWriter> writer_;
  std::vector<float> resampled_;
  Index left_ = 0, count_ = 0;  ///< samples that are wanted of the resampler; numbers that were given
  double peak_ = 0, squares_ = 0;
};

struct Consistency {
  double energy = 0, difference = 0;
  void add(const float* frame, Index channels, Index stems, double scale) {
    for (Index c = 0; c < channels; ++c) {
      const auto x = static_cast<double>(frame[c]);
      double rest = -x;
      for (Index s = 1; s <= stems; ++s) rest += scale * static_cast<double>(frame[s * channels + c]);
      energy += x * x;
      difference += rest * rest;
    }
  }
  [[nodiscard]] double db() const { return 10 * std::log10((difference + 1e-30) / (energy + 1e-30)); }
};

/// Of a stem in the spool.
double scale_of(const Spool& spool, Index passes) { return spool.layout().means ? 1 : 1 / static_cast<double>(passes); }

/// Sends the whole spool through `streams`, one for each output.
Consistency send(const Spool& spool, Index passes, double gain, const std::vector<Output>& outputs,
                 std::vector<OutputStream>& streams) {
  const Index width = spool.frame(), channels = spool.layout().channels;
  Consistency consistency;
  std::vector<float> frames, samples;
  std::vector<std::vector<double>> factors;
  for (const Output& each : outputs) factors.push_back(factors_of(each, spool, passes, gain));
  for (Index first = 0; first < spool.samples(); first += samples_of_piece) {
    check_interrupt();
    const Index count = std::min(samples_of_piece, spool.samples() - first);
    frames.resize(static_cast<std::size_t>(count * width));
    spool.read(first, frames);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      samples.resize(static_cast<std::size_t>(count * channels));
      sum_stems(frames, spool, factors[o], samples.data());
      streams[o].take(samples);
    }
    for (Index i = 0; i < count; ++i) {
      consistency.add(frames.data() + i * width, channels, spool.layout().stems, scale_of(spool, passes));
    }
  }
  for (OutputStream& each : streams) each.finish();
  return consistency;
}

std::vector<OutputStream> streams_for(std::size_t count, const StemWriteSettings& settings,
                                      const SourceLength& source) {
  std::vector<OutputStream> streams;
  for (std::size_t i = 0; i < count; ++i) streams.emplace_back(settings, source);
  return streams;
}

/// The largest magnitude that every type of sample holds.
double full_scale(const AudioWriteOptions& options) {
  if (options.format == AudioFormat::ogg || options.format == AudioFormat::mp3) return 1;
  return 1 - std::ldexp(1.0, options.type == SampleType::pcm16 ? -15 : -23);
}

}  // namespace

std::vector<double> factors_of(const Output& output, const Spool& spool, Index passes, double gain) {
  std::vector<double> factors{gain * output.mixture};
  for (const double stem : output.stems) factors.push_back(gain * scale_of(spool, passes) * stem);
  return factors;
}

void sum_stems(const std::vector<float>& frames, const Spool& spool, const std::vector<double>& factors,
               float* samples) {
  const Index width = spool.frame(), channels = spool.layout().channels;
  const Index count = static_cast<Index>(frames.size()) / width;
  for (Index i = 0; i < count; ++i) {
    for (Index c = 0; c < channels; ++c) {
      double value = 0;
      for (std::size_t k = 0; k < factors.size(); ++k) {
        const float number = frames[static_cast<std::size_t>(i * width + static_cast<Index>(k) * channels + c)];
        if (factors[k] != 0) value += factors[k] * static_cast<double>(number);
      }
      samples[i * channels + c] = static_cast<float>(value);
    }
  }
}

WrittenStems write_stems(const Spool& spool, Index passes, const std::vector<Output>& outputs,
                         const std::vector<std::string>& paths, const SourceLength& source,
                         const StemWriteSettings& settings) {
  AudioWriteOptions file = settings.file;
  WrittenStems written;
  if (clips(file) && settings.clip != Clip::warn) {
    std::vector<OutputStream> listening = streams_for(outputs.size(), settings, source);
    (void)send(spool, passes, 1, outputs, listening);
    double peak = 0;
    for (const OutputStream& each : listening) peak = std::max(peak, each.heard().peak);
    const bool beyond = peak > full_scale(file);
    if (beyond && settings.clip == Clip::rescale) written.gain = full_scale(file) / peak;
    if (beyond && settings.clip == Clip::to_float) file.type = SampleType::f32, written.floating = true;
  }
  if (settings.keep_rate) file.rate = source.rate;
  std::vector<OutputStream> streams = streams_for(outputs.size(), settings, source);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    file.stream = i;
    streams[i].write_to(paths[i], file);
  }
  written.consistency_db = send(spool, passes, written.gain, outputs, streams).db();
  for (OutputStream& each : streams) {
    each.commit();
    written.outputs.push_back(each.heard());
  }
  return written;
}

}  // namespace sonde::separate
