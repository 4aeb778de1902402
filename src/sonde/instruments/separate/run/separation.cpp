// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/separation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/feed.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/separate/run/passes.h"
#include "sonde/instruments/separate/run/quality.h"
#include "sonde/instruments/separate/run/record.h"
#include "sonde/instruments/separate/run/stem_source.h"

namespace sonde::separate {
namespace {

constexpr std::size_t blocks_ahead = 4;  // of samples_at_once

MonoSpread spread_of(const SeparationTask& task, const AudioReadOptions& reading) {
  AudioReader reader = open_input(task, reading);
  MonoSpread spread;
  for (auto part = reader.read(samples_at_once); !part.empty(); part = reader.read(samples_at_once)) {
    spread.add({part.data(), reading.channels, static_cast<Index>(part.size()) / reading.channels});
  }
  return spread;
}

/// What is decoded ahead. The first block of a file says what the file is, the last one has no samples.
struct Block {
  AudioInfo info;
  Index frames = 0, source_frames = 0, zeroed = 0;
  double mean = 0, deviation = 1;
  std::vector<float> samples;
  double seconds = 0;
};

/// The samples of all files, one after the other.
class Decoding {
 public:
  Decoding(std::vector<SeparationTask> tasks, const AudioReadOptions& options, bool normalise)
      : tasks_(std::move(tasks)), options_(options), normalise_(normalise) {}

  bool operator()(Block& block) {
    const Stopwatch watch;
    if (!reader_) {
      if (next_ == tasks_.size()) return false;
      if (normalise_) spread_ = spread_of(tasks_[next_], options_);
      reader_.emplace(open_input(tasks_[next_], options_));
    }
    block.samples = reader_->read(samples_at_once);
    block.info = reader_->info();
    block.frames = reader_->frames(), block.source_frames = reader_->source_frames();
    block.zeroed = reader_->zeroed();
    if (normalise_) block.mean = spread_.mean(), block.deviation = spread_.deviation();
    if (block.samples.empty()) reader_.reset(), ++next_;
    block.seconds = watch.seconds();
    return true;
  }

 private:
  std::vector<SeparationTask> tasks_;
  AudioReadOptions options_;
  bool normalise_;
  std::size_t next_ = 0;
  std::optional<AudioReader> reader_;
  MonoSpread spread_;
};

/// A file whose stems are on disk, but not in their files.
struct Separated {
  SeparationTask task;
  Spool spool;
  SourceLength source;
  std::string identity;
  SeparationResult result;
};

/// What is kept of a file in these settings.
Spool::Layout layout_of(const SeparationSettings& settings, const Config& config) {
  return {.channels = config.audio_channels,
          .stems = static_cast<Index>(config.stems().size()),
          .means = settings.in_parts(),
          .variances = settings.quality};
}

/// The stems as they are in the spool, and their summary.
void write_files(Separated& made, const SeparationSettings& settings) {
  const Stopwatch watch;
  made.result.written =
      write_stems(made.spool, settings.shifts, made.task.outputs, made.task.paths, made.source, settings.writing);
  if (!made.task.record.empty()) {
    AtomicFile file(made.task.record + ".json", side_output("the summary", FileMark::json));
    file.write(to_json(summary_of(made.task, made.result, made.identity, settings)) + "\n");
    file.commit();
  }
  made.result.times.write += watch.seconds();
}

class FileSeparation {
 public:
  FileSeparation(const SeparationSettings& settings, const Config& config, Network& network, Feed<Block>& feed)
      : settings_(settings), config_(config), network_(network), feed_(feed) {}

  Separated separate(const SeparationTask& task) {
    const std::string origin = origin_of(task, settings_, config_);
    const Spool::Layout layout = layout_of(settings_, config_);
    std::optional<Spool> kept = settings_.resume ? Spool::resume(kept_path(task), origin, layout) : std::nullopt;
    if (!kept) kept.emplace(Spool::begin(kept_path(task), origin, layout));
    Separated made{.task = task,
                   .spool = std::move(*kept),
                   .source = {},
                   .identity = identity_of(task, settings_, origin),
                   .result = {}};
    try {
      compute(made);
    } catch (...) {
      abandon(made.spool);
      throw;
    }
    return made;
  }

 private:
  void compute(Separated& made) {
    const Stopwatch watch;
    SeparationResult& result = made.result;
    Spool& spool = made.spool;
    auto block = next(result.times);
    result.input = block->info;
    result.resumed_at = spool.pass() > 0 ? spool.samples() : spool.finished();
    made.source = made.task.source ? made.task.source->song_length
                                   : SourceLength{.rate = block->info.rate, .samples = block->source_frames};
    DemixSettings joining = demix_settings(config_, settings_);
    joining.mean = block->mean, joining.deviation = block->deviation;
    const std::vector<Pass> passes = passes_of(config_, settings_);
    result.passes = static_cast<Index>(passes.size());
    Index calls = 0;
    for (const Pass& pass : passes) calls += calls_of(pass, joining, block->frames);
    ProgressMeter meter("separating " + std::filesystem::path(made.task.input).filename().string(), calls, "chunks");
    TimedNetwork network(config_, settings_.tta, network_, meter);
    network.reserve(calls);

    if (settings_.watching.begin) settings_.watching.begin(made.task.input, block->frames);
    if (spool.pass() == 0) {
      first_pass(passes.front(), joining, network, block, made);
    } else {
      while (!block->samples.empty()) block = next(result.times);
    }
    result.zeroed = block->zeroed;
    block = {};
    result.samples = spool.samples();
    while (spool.pass() < result.passes) {
      if (settings_.preview) publish(made, watch);
      later_pass(passes[static_cast<std::size_t>(spool.pass())], joining, network, made);
    }
    result.passes_done = result.passes;
    network.report(result.times);
    result.times.joining = watch.seconds() - result.times.network - result.times.waiting - result.times.write;
  }

  /// The file as it is decoded; `block` is then the one that ends it.
  void first_pass(const Pass& pass, DemixSettings joining, TimedNetwork& network, Feed<Block>::Lease& block,
                  Separated& made) {
    Spool& spool = made.spool;
    joining.part = pass.part;
    network.change(pass.changes);
    std::optional<Demixer> demixer;
    const auto append = [&](View<const float, 2> mixture, View<const float, 3> stems) {
      watch(made, spool.finished(), stems);
      spool.append(mixture, stems, demixer->weights());
    };
    demixer.emplace(joining, std::ref(network), append, spool.finished());
    for (; !block->samples.empty(); block = next(made.result.times)) {
      const Index count = static_cast<Index>(block->samples.size()) / config_.audio_channels;
      demixer->push({block->samples.data(), config_.audio_channels, count});
    }
    demixer->finish();
    note(*demixer, pass, made.result);
    spool.end_pass();
  }

  /// The file again, from another sample on in a circle.
  void later_pass(const Pass& pass, DemixSettings joining, TimedNetwork& network, Separated& made) const {
    Spool& spool = made.spool;
    const Index all = spool.samples(), shift = shift_of(all, settings_.shifts, pass.shift),
                channels = config_.audio_channels;
    joining.part = pass.part;
    network.change(pass.changes);
    std::optional<Demixer> demixer;
    const auto add = [&](View<const float, 2>, View<const float, 3> stems) {
      const Index first = shift + spool.finished();
      watch(made, first, stems);
      if (pass.part) return spool.weigh_in(first, stems, demixer->weights());
      if (settings_.in_parts()) return spool.weigh_in(first, stems, pass.shift);
      spool.add(first, stems);
    };
    demixer.emplace(joining, std::ref(network), add, spool.finished());
    std::vector<float> frames;
    for (Index done = 0; done < all;) {
      const Index first = (shift + done) % all, count = std::min({samples_at_once, all - done, all - first});
      frames.resize(static_cast<std::size_t>(count * spool.frame()));
      spool.read(first, frames);
      View<const float, 2> mixture(frames.data(), channels, count);
      mixture.stride[0] = 1, mixture.stride[1] = spool.frame();
      demixer->push(mixture);
      done += count;
    }
    demixer->finish();
    note(*demixer, pass, made.result);
    spool.end_pass();
  }

  void watch(const Separated& made, Index first, View<const float, 3> stems) const {
    if (settings_.watching.stems) settings_.watching.stems(made.spool.pass(), made.result.passes, first, stems);
  }

  void note(const Demixer& demixer, const Pass& pass, SeparationResult& result) const {
    result.chunks += demixer.chunks_done();
    // A joint of one part is covered by the others, and each change of the samples has the same joints.
    const bool lasting = !pass.part || (settings_.overlap == 1 && pass.changes.front() == Change::none);
    if (lasting) result.unweighted += demixer.unweighted_samples();
  }

  /// What the passes so far give, as files.
  void publish(Separated& made, const Stopwatch& watch) const {
    made.result.passes_done = made.spool.pass();
    write_files(made, settings_);
    if (made.result.times.first_result == 0) made.result.times.first_result = watch.seconds();
    if (settings_.refined) settings_.refined(made.task, made.result);
  }

  Feed<Block>::Lease next(SeparationTimes& times) {
    const Stopwatch watch;
    auto block = feed_.next();
    times.waiting += watch.seconds();
    times.decode += block->seconds;
    return block;
  }

  const SeparationSettings& settings_;
  const Config& config_;
  Network& network_;
  Feed<Block>& feed_;
};

/// From the spool, over time.
Value quality_of(const Separated& made, const Config& config) {
  const Spool& spool = made.spool;
  constexpr Index at_a_time = 16384;
  QualityMeter meter(config.sample_rate, spool.layout().channels, spool.layout().stems);
  std::vector<float> frames;
  const Index width = spool.frame();
  for (Index first = 0; first < spool.samples(); first += at_a_time) {
    check_interrupt();
    const Index count = std::min(at_a_time, spool.samples() - first);
    frames.resize(static_cast<std::size_t>(count * width));
    spool.read(first, frames);
    for (Index i = 0; i < count; ++i) {
      const float* const frame = frames.data() + i * width;
      meter.add(frame, frame + spool.layout().channels, frame + width - spool.layout().stems);
    }
  }
  return quality_value(meter.quality(), config.stems(), made.result.passes);
}

/// The stems into their files.
SeparationResult write(Separated made, const SeparationSettings& settings, const Config& config) {
  try {
    if (settings.quality) made.result.quality = quality_of(made, config);
    write_files(made, settings);
  } catch (...) {
    abandon(made.spool);
    throw;
  }
  if (settings.keep) {
    made.result.kept = std::make_shared<Spool>(std::move(made.spool));
  } else {
    made.spool.remove();
  }
  return made.result;
}

}  // namespace

DemixSettings demix_settings(const Config& config, const SeparationSettings& settings) {
  return {.channels = config.audio_channels,
          .stems = static_cast<Index>(config.stems().size()),
          .chunk = config.chunk,
          .overlap = settings.overlap,
          .policy = settings.policy};
}

Index network_passes(const Config& config, const SeparationSettings& settings, Index samples) {
  const Index of_chunk = !settings.tta ? 1 : config.audio_channels == 1 ? 2 : 3;
  return chunk_count(demix_settings(config, settings), samples) * settings.shifts * of_chunk;
}

std::size_t bytes_for(const Config& config, const SeparationSettings& settings) {
  DemixSettings joining = demix_settings(config, settings);
  if (settings.in_parts()) joining.part = 0;
  const Index chunk = joining.channels * joining.chunk;
  const Index blocks = static_cast<Index>(blocks_ahead) * 4 * samples_at_once * joining.channels;
  const Index numbers = blocks + (settings.tta ? chunk * (1 + joining.stems) : 0);
  return Demixer::bytes_for(joining) + sizeof(float) * static_cast<std::size_t>(numbers);
}

double kept_bytes(const Config& config, const SeparationSettings& settings, Index samples) {
  const Index stems = static_cast<Index>(config.stems().size());
  const Index numbers =
      config.audio_channels * (1 + stems) + (settings.in_parts() ? 1 : 0) + (settings.quality ? stems : 0);
  return static_cast<double>(sizeof(float)) * static_cast<double>(samples * numbers);
}

std::optional<SeparationResult> complete_before(const SeparationTask& task, const SeparationSettings& settings,
                                                const Config& config) {
  if (!settings.resume) return std::nullopt;
  const std::string origin = origin_of(task, settings, config);
  if (!is_complete(task, identity_of(task, settings, origin))) return std::nullopt;
  SeparationResult result;
  result.was_complete = true;
  if (!settings.keep) return result;
  std::optional<Spool> kept = Spool::resume(kept_path(task), origin, layout_of(settings, config));
  if (!kept || kept->pass() < static_cast<Index>(passes_of(config, settings).size())) return std::nullopt;
  result.kept = std::make_shared<Spool>(*std::move(kept));
  return result;
}

void separate_files(const std::vector<SeparationTask>& tasks, const SeparationSettings& settings, const Config& config,
                    Network& network, const std::function<void(std::size_t task, const SeparationResult&)>& finished) {
  std::vector<std::optional<SeparationResult>> complete;
  std::vector<SeparationTask> inputs;
  for (const SeparationTask& task : tasks) {
    complete.push_back(complete_before(task, settings, config));
    if (!complete.back()) inputs.push_back(task);
  }
  Decoding decoding(inputs, settings.reading, config.normalize);
  Feed<Block> feed(std::vector<Block>(blocks_ahead), [&decoding](Block& block) { return decoding(block); });
  FileSeparation separation(settings, config, network, feed);
  std::future<SeparationResult> writing;  // of the last task before `i` that was not complete
  std::size_t written = 0;
  const auto wait = [&] {
    if (writing.valid()) finished(written, writing.get());
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (complete[i]) {
      wait();
      finished(i, *complete[i]);
      continue;
    }
    Separated made = separation.separate(tasks[i]);
    try {
      wait();
    } catch (...) {
      abandon(made.spool);
      throw;
    }
    written = i;
    writing = std::async(std::launch::async, in_this_run([made = std::move(made), &settings, &config]() mutable {
                           return write(std::move(made), settings, config);
                         }));
  }
  wait();
}

SeparationResult separate_file(const SeparationTask& task, const SeparationSettings& settings, const Config& config,
                               Network& network) {
  for (const std::string& path : task.paths) make_folders(std::filesystem::path(path).parent_path());
  SeparationResult result;
  separate_files({task}, settings, config, network, [&](std::size_t, const SeparationResult& made) { result = made; });
  return result;
}

}  // namespace sonde::separate
