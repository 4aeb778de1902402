// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/run_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sonde/instruments/separate/run/memory.h"
#include "sonde/instruments/separate/run/stem_source.h"
#include "sonde/instruments/separate/verbs/algorithms.h"
#include "sonde/instruments/separate/verbs/expected_time.h"
#include "sonde/instruments/separate/verbs/network_identity.h"
#include "sonde/instruments/separate/verbs/noted_network.h"
#include "sonde/instruments/separate/verbs/run_report.h"

namespace sonde::separate {
namespace {

/// What the budget leaves for the network.
std::size_t bytes_for_network(const Config& config, const SeparationSettings& settings, Run& run) {
  const std::size_t others = memory_of(config, settings, {}).lasting_bytes;
  const std::size_t limit = run.host_budget().available_bytes();
  return limit > others ? limit - others : 0;
}

/// The first chunk of a file through two plans: 10 log10(|a|^2 / |a - b|^2).
double first_chunk_db(const SeparationTask& task, const SeparationSettings& settings, const Config& config, Network& a,
                      Network& b) {
  std::vector<float> samples = open_input(task, settings.reading).read(config.chunk);
  const Index count = static_cast<Index>(samples.size()) / config.audio_channels;
  std::vector<float> chunk(static_cast<std::size_t>(config.audio_channels * config.chunk));
  for (Index c = 0; c < config.audio_channels; ++c) {
    std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(c * count), count,
                chunk.begin() + static_cast<std::ptrdiff_t>(c * config.chunk));
  }
  const auto stems = static_cast<Index>(config.stems().size());
  std::vector<float> of_a(chunk.size() * static_cast<std::size_t>(stems)), of_b(of_a.size());
  a.run({chunk.data(), config.audio_channels, config.chunk}, {of_a.data(), stems, config.audio_channels, config.chunk});
  b.run({chunk.data(), config.audio_channels, config.chunk}, {of_b.data(), stems, config.audio_channels, config.chunk});
  double size = 1e-30, difference = 1e-30;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const auto x = static_cast<double>(of_a[i]);
    size += x * x;
    difference += std::pow(x - static_cast<double>(of_b[i]), 2);
  }
  return 10 * std::log10(size / difference);
}

/// Of two networks of the same layers.
void add_times(std::vector<Network::Time>& sums, const std::vector<Network::Time>& more) {
  if (sums.empty()) sums.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) {
    Network::Time sum = more[i];
    sum.total_s += sums[i].total_s, sum.calls += sums[i].calls;
    sums[i] = sum;
  }
}

/// The stems as they grow, for those who watch.
void watch_growth(WatchedStems& watched, const Config& config, SeparationSettings& settings) {
  settings.watching.begin = [&watched, &config](const std::string& input, Index samples) {
    const std::lock_guard lock(watched.mutex);
    watched.growth = StemGrowth(config.stems(), config.sample_rate);
    watched.growth.begin(std::filesystem::path(input).filename().string(), samples);
  };
  settings.watching.stems = [&watched](Index pass, Index passes, Index first, View<const float, 3> stems) {
    const std::lock_guard lock(watched.mutex);
    watched.growth.add(pass, passes, first, stems);
  };
}

}  // namespace

RunStage open_stage(const RunOptions& options, bool is_second, Run& run) {
  const auto open = [&] {
    const auto opening = run.report().phase("checkpoint");
    return (is_second ? options.second : options.model).open(run, is_second ? " of the second network" : "");
  };
  RunStage stage{.is_second = is_second, .model = open(), .config = {}, .settings = {}};
  const Choice<std::string>& from = stage.model.configuration;
  run.say(fmt::format("config      {}: {}", from.value, from.because));
  stage.config = is_second ? options.second_config(stage.model.config) : options.chunks.applied_to(stage.model.config);
  stage.settings = is_second ? options.second_settings(stage.config) : options.settings(stage.config);
  check(demix_settings(stage.config, stage.settings));
  return stage;
}

void plan_network(RunStage& stage, const RunOptions& options, std::size_t more_bytes, Run& run) {
  if (run.device().is_cpu()) {
    const std::size_t bytes = bytes_for_network(stage.config, stage.settings, run);
    stage.algorithms.methods = choose_methods(stage.config, bytes, options.tune, run, stage.whose());
  } else {
    stage.gpu = plan_on_gpu(stage.config, options.precision, run, stage.whose());
  }
  stage.settings.origin = network_origin(stage, options, run);
  stage.settings.about = network_summary(stage, options);
  stage.memory = memory_of(
      stage.config, stage.settings,
      stage.gpu ? Plan::Bytes{.values = stage.gpu->host_bytes} : Plan::bytes_for(stage.config, stage.algorithms));
  if (more_bytes > 0) stage.memory.peak_bytes += stage.memory.add("midi", more_bytes, "a stem as a whole");
  run.show_memory(stage.memory, run.host_budget(), std::string("memory") + stage.whose());
  if (stage.gpu) run.show_memory(stage.gpu->memory, run.budget(), std::string("memory of the GPU") + stage.whose());
}

WorkingStage::WorkingStage(RunStage& stage, const RunOptions& options, const Stopwatch& since, WatchedStems* watched,
                           Run& run)
    : stage_(stage), options_(options), since_(since), run_(run) {
  stage.settings.refined = [this](const SeparationTask& task, const SeparationResult& result) {
    report_preview(task, result, stage_.settings, run_);
  };
  if (watched != nullptr) watch_growth(*watched, stage.config, stage.settings);
}

void WorkingStage::prepare() {
  auto preparing = run_.report().phase("prepare");
  auto matching = run_.report().phase("parameters");
  ParameterValues values = rounded(stage_.model.values(), options_.precision);
  matching.end();
  const auto packing = run_.report().phase("pack");
  if (stage_.gpu) {
    network_ =
        std::make_unique<DevicePlan>(DevicePlan::prepare(run_.device(), stage_.config, values, stage_.gpu->options));
  } else {
    network_ = std::make_unique<Plan>(Plan::prepare(stage_.config, values, stage_.algorithms));
  }
}

void WorkingStage::verify(const SeparationTask& task) {
  const auto verifying = run_.report().phase("verify");
  Plan exact = Plan::prepare(stage_.config, stage_.model.values(), {.method = ConvolutionMethod::direct});
  const double db = first_chunk_db(task, stage_.settings, stage_.config, exact, *network_);
  stage_.results(run_)["precision_db"] = db;
  run_.say(
      fmt::format("precision   the first chunk is {:.1f} dB above its difference from float32 with direct "
                  "convolutions",
                  db));
}

void WorkingStage::separate(const std::vector<SeparationTask>& tasks, const SeparationSettings& settings,
                            const std::function<void(const SeparationTask&, const SeparationResult&)>& finished) {
  const auto phase = stage_.is_second ? std::optional(run_.report().phase("then")) : std::nullopt;
  if (!network_) prepare();
  if (options_.verify_precision && !std::exchange(is_verified_, true)) verify(tasks.front());
  // Its pages, as large as the network, would count as memory of this process.
  if (stage_.model.checkpoint) stage_.model.checkpoint->file->release_pages();
  const auto separating = run_.report().phase("separate");
  NotedNetwork noted(*network_, since_);
  separate_files(tasks, settings, stage_.config, noted, [&](std::size_t task, const SeparationResult& result) {
    // Fewer hold the warm-up.
    if (result.chunks >= 3 && !settings.tta && !stage_.gpu) {
      keep_chunk_seconds(time_key(stage_.config, stage_.algorithms.methods), result.times.chunk_median);
    }
    finished(tasks[task], result);
  });
  if (!first_pass_.is_null() || !noted.first_pass_begins_s()) return;
  first_pass_["begins_s"] = *noted.first_pass_begins_s();
  first_pass_["memory"] = noted.memory();
}

void WorkingStage::release() {
  if (network_) add_times(times_, network_->times());
  network_.reset();
}

void WorkingStage::report() {
  release();
  sonde::Value& moment = stage_.results(run_)["run"];
  report_network(times_, moment);
  for (const MemoryPlan::Line& each : stage_.memory.lines) moment["memory"]["planned"][each.what] = each.bytes;
  moment["memory"]["planned"]["peak"] = stage_.memory.peak_bytes;
  if (first_pass_.is_null()) return;
  moment["memory"]["at_peak"] = *first_pass_.find("memory");
  moment["first_chunk_begins_s"] = *first_pass_.find("begins_s");
}

}  // namespace sonde::separate
