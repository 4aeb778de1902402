// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/stem_source.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

namespace sonde::separate {
namespace {

/// The samples of a stem, one after the other.
class StemSamples {
 public:
  explicit StemSamples(std::shared_ptr<const StemSource> source)
      : source_(std::move(source)), factors_(factors_of(source_->stem, *source_->kept, source_->settings.shifts)) {}

  void operator()(float* to, Index count) {
    constexpr Index most = 16384;
    const Spool& kept = *source_->kept;
    for (const Index end = at_ + count; at_ < end;) {
      const Index now = std::min(most, end - at_);
      frames_.resize(static_cast<std::size_t>(now * kept.frame()));
      kept.read(at_, frames_);
      sum_stems(frames_, kept, factors_, to);
      at_ += now, to += now * kept.layout().channels;
    }
  }

 private:
  std::shared_ptr<const StemSource> source_;
  std::vector<double> factors_;
  std::vector<float> frames_;
  Index at_ = 0;
};

}  // namespace

StemSource stem_of(const SeparationTask& song, const Output& stem, const SeparationSettings& settings,
                   const Config& config) {
  const AudioReader reader(song.input, settings.reading);
  return {.song = song,
          .settings = settings,
          .config = config,
          .stem = stem,
          .info = {.format = "a stem of " + std::filesystem::path(song.input).filename().string(),
                   .rate = config.sample_rate,
                   .channels = config.audio_channels,
                   .frames = reader.frames()},
          .song_length = {.rate = reader.info().rate, .samples = reader.source_frames()}};
}

AudioReader open_input(const SeparationTask& task, const AudioReadOptions& options) {
  if (!task.source) return {task.input, options};
  AudioSamples samples{.name = task.input, .info = task.source->info};
  if (task.source->kept) {
    samples.info.frames = task.source->kept->samples();  // of a resampled file one more or less than it was to be
    samples.read = StemSamples(task.source);
  }
  return {samples, options};
}

}  // namespace sonde::separate
