// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/separation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/report/progress.h"

namespace sonde::separate {
namespace {

// Samples that are decoded, separated and written together.
constexpr Index samples_at_once = 65536;

struct Spread {
  double mean = 0, deviation = 1;
};

/// Of the mean of all channels over the whole file, by the update of Chan, Golub and LeVeque (1983).
Spread spread_of(const SeparationTask& task, const AudioReadOptions& reading) {
  AudioReader reader(task.input, reading);
  double count = 0, mean = 0, squares = 0;
  while (true) {
    const auto part = reader.read(samples_at_once);
    if (part.empty()) break;
    const auto length = part.size() / static_cast<std::size_t>(reading.channels);
    std::vector<double> mono(length);
    for (std::size_t i = 0; i < part.size(); ++i) {
      mono[i % length] += static_cast<double>(part[i]) / static_cast<double>(reading.channels);
    }
    double sum = 0, about_mean = 0;
    for (const double x : mono) sum += x;
    const double here = sum / static_cast<double>(length), more = static_cast<double>(length);
    for (const double x : mono) about_mean += (x - here) * (x - here);
    squares += about_mean + (here - mean) * (here - mean) * count * more / (count + more);
    mean += (here - mean) * more / (count + more);
    count += more;
  }
  const double deviation = std::sqrt(squares / std::max(1.0, count));
  return deviation > 0 ? Spread{mean, deviation} : Spread{};  // silence is separated as it is
}

/// Takes finished stems to the files, and listens to them.
class Writers {
 public:
  Writers(const SeparationTask& task, const AudioWriteOptions& options, Index channels)
      : task_(task), channels_(channels) {
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
      make_folders(std::filesystem::path(task.paths[i]).parent_path());
      AudioWriteOptions own = options;
      own.stream = i;
      writers_.emplace_back(task.paths[i], own);
    }
    squares_.resize(writers_.size());
  }

  /// What will come out next, at the end of it.
  void remember_mixture(const std::vector<float>& samples, Index count) {
    const std::size_t before = mixture_.size() / static_cast<std::size_t>(channels_);
    const std::size_t after = before + static_cast<std::size_t>(count);
    std::vector<float> joined(after * static_cast<std::size_t>(channels_));
    for (Index c = 0; c < channels_; ++c) {
      const auto row = static_cast<std::size_t>(c);
      std::copy_n(mixture_.begin() + static_cast<std::ptrdiff_t>(row * before), before,
                  joined.begin() + static_cast<std::ptrdiff_t>(row * after));
      std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(row) * count, count,
                  joined.begin() + static_cast<std::ptrdiff_t>(row * after + before));
    }
    mixture_ = std::move(joined);
  }

  void take(View<const float, 3> stems) {
    const Index count = stems.extent[2];
    const auto held = static_cast<Index>(mixture_.size()) / channels_;
    const View<const float, 2> mixture(mixture_.data(), channels_, held);
    made_.resize(static_cast<std::size_t>(channels_ * count));
    const View<float, 2> made(made_.data(), channels_, count);
    for (std::size_t o = 0; o < writers_.size(); ++o) {
      sum(task_.outputs[o], stems, mixture, made);
      for (const float x : made_) squares_[o] += static_cast<double>(x) * static_cast<double>(x);
      writers_[o].write(made);
    }
    listen(stems, mixture);
    // What is left of the mixture moves to the front.
    std::vector<float> rest(static_cast<std::size_t>(channels_ * (held - count)));
    for (Index c = 0; c < channels_; ++c) {
      for (Index i = count; i < held; ++i)
        rest[static_cast<std::size_t>(c * (held - count) + i - count)] = mixture(c, i);
    }
    mixture_ = std::move(rest);
    samples_ += count;
  }

  void commit() {
    for (AudioWriter& each : writers_) each.commit();
  }

  void report(SeparationResult& result) const {
    result.samples = samples_;
    for (std::size_t o = 0; o < writers_.size(); ++o) {
      const double rms = std::sqrt(squares_[o] / std::max(1.0, static_cast<double>(samples_ * channels_)));
      result.outputs.push_back({.peak = writers_[o].peak(), .rms = rms, .clipped = writers_[o].clipped()});
    }
    result.consistency_db = 10 * std::log10((difference_ + 1e-30) / (energy_ + 1e-30));
  }

 private:
  static void sum(const Output& output, View<const float, 3> stems, View<const float, 2> mixture, View<float, 2> to) {
    for (Index c = 0; c < to.extent[0]; ++c) {
      for (Index i = 0; i < to.extent[1]; ++i) {
        double value = output.mixture == 0 ? 0 : output.mixture * static_cast<double>(mixture(c, i));
        for (std::size_t s = 0; s < output.stems.size(); ++s) {
          if (output.stems[s] != 0) value += output.stems[s] * static_cast<double>(stems(static_cast<Index>(s), c, i));
        }
        to(c, i) = static_cast<float>(value);
      }
    }
  }

  void listen(View<const float, 3> stems, View<const float, 2> mixture) {
    for (Index c = 0; c < channels_; ++c) {
      for (Index i = 0; i < stems.extent[2]; ++i) {
        const auto x = static_cast<double>(mixture(c, i));
        double rest = -x;
        for (Index s = 0; s < stems.extent[0]; ++s) rest += static_cast<double>(stems(s, c, i));
        energy_ += x * x;
        difference_ += rest * rest;
      }
    }
  }

  const SeparationTask& task_;
  Index channels_;
  std::vector<AudioWriter> writers_;
  std::vector<double> squares_;
  std::vector<float> mixture_, made_;  ///< (channels, count): what was read and is not written yet
  Index samples_ = 0;
  double energy_ = 0, difference_ = 0;
};

}  // namespace

DemixSettings demix_settings(const Config& config, const SeparationSettings& settings) {
  return {.channels = config.audio_channels,
          .stems = static_cast<Index>(config.stems().size()),
          .chunk = config.chunk,
          .overlap = settings.overlap,
          .policy = settings.policy};
}

SeparationResult separate_file(const SeparationTask& task, const SeparationSettings& settings, const Config& config,
                               Plan& plan) {
  SeparationResult result;
  DemixSettings joining = demix_settings(config, settings);
  if (config.normalize) {
    const Spread spread = spread_of(task, settings.reading);
    joining.mean = spread.mean, joining.deviation = spread.deviation;
  }
  AudioReader reader(task.input, settings.reading);
  result.input = reader.info();
  Writers writers(task, settings.writing, config.audio_channels);
  ProgressMeter meter("separating " + std::filesystem::path(task.input).filename().string(),
                      chunk_count(joining, reader.frames()), "chunks");
  const auto network = [&](View<const float, 2> samples, View<float, 3> stems) {
    const Stopwatch watch;
    plan.run(samples, stems);
    result.network_s += watch.seconds();
    if (result.first_chunk_s == 0) result.first_chunk_s = watch.seconds();
    meter.advance();
    check_interrupt();
  };
  Demixer demixer(joining, network, [&](View<const float, 3> stems) { writers.take(stems); });
  while (true) {
    const auto part = reader.read(samples_at_once);
    if (part.empty()) break;
    const auto count = static_cast<Index>(part.size()) / config.audio_channels;
    writers.remember_mixture(part, count);
    demixer.push({part.data(), config.audio_channels, count});
  }
  demixer.finish();
  writers.commit();
  writers.report(result);
  result.chunks = demixer.chunks_done();
  result.unweighted = demixer.unweighted_samples();
  result.zeroed = reader.zeroed();
  return result;
}

}  // namespace sonde::separate
