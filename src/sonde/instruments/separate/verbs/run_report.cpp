// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/separate/run/stem_source.h"

namespace sonde::separate {

namespace {

void report_quality(const Value& quality, Value& told, Run& run) {
  told["quality"] = quality;
  std::string line;
  for (const Value& stem : quality.find("stems")->items()) {
    const Value* const agreement = stem.find("agreement_db");
    if (agreement == nullptr || agreement->is_null()) continue;
    line += fmt::format("{}{} {:.1f} dB", line.empty() ? "" : ", ", text_at(stem, "name"), agreement->as_real());
  }
  const Index passes = quality.find("passes")->as_whole();
  if (passes < 2) {
    run.say(fmt::format("note: one pass agrees with nothing; use {} 2 or more", setting("overlap")));
  } else if (!line.empty()) {
    run.say(fmt::format("agreement   of {} passes: {}", passes, line));
  }
}

}  // namespace

void report_file(const SeparationTask& task, const SeparationResult& result, const Config& config, Value& results,
                 Run& run) {
  Value& told = results["inputs"].push_back(Value::object());
  told["path"] = task.source ? task.source->song.input : task.input;
  if (task.source) told["stem"] = task.source->stem.name;
  told["was_complete"] = result.was_complete;
  if (result.was_complete) {
    run.say(fmt::format("complete    {}, by an earlier run", task.input));
    return;
  }
  const double audio_s = static_cast<double>(result.samples) / static_cast<double>(config.sample_rate);
  told["format"] = result.input.format;
  told["seconds"] = audio_s;
  told["chunks"] = result.chunks;
  told["passes"] = result.passes;
  told["resumed_at_s"] = static_cast<double>(result.resumed_at) / static_cast<double>(config.sample_rate);
  told["consistency_db"] = result.written.consistency_db;
  told["unweighted_samples"] = result.unweighted;
  told["zeroed_samples"] = result.zeroed;
  told["gain"] = result.written.gain;
  const SeparationTimes& times = result.times;
  Value& moment = told["run"];
  moment["decode_s"] = times.decode;
  moment["waiting_s"] = times.waiting;
  moment["network_s"] = times.network;
  moment["first_chunk_s"] = times.first_chunk;
  moment["chunk_median_s"] = times.chunk_median;
  moment["slow_chunks"] = times.slow_chunks;
  moment["overlap_add_s"] = times.joining;
  moment["write_s"] = times.write;
  if (times.first_result > 0) moment["first_result_s"] = times.first_result;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const WrittenStems::Stem& stem = result.written.outputs[i];
    Value& output = told["outputs"].push_back(Value::object());
    output["name"] = task.outputs[i].name;
    output["path"] = task.paths[i];
    output["peak"] = stem.peak;
    output["rms"] = stem.rms;
    output["clipped"] = stem.clipped;
    run.say(fmt::format("wrote       {}  peak {:.3f}, {:.1f} dB{}", task.paths[i], stem.peak,
                        20 * std::log10(std::max(1e-9, stem.rms)),
                        stem.clipped == 0 ? "" : fmt::format(", {} samples clipped", stem.clipped)));
  }
  for (const std::string& path : task.paths) run.results()["files"].push_back(path);
  if (result.written.gain != 1) {
    run.say(fmt::format("rescaled    all stems by {:.4f}, so that none is clipped", result.written.gain));
  }
  if (result.written.floating) run.say("float       the files hold floating point: integers would be clipped");
  if (result.resumed_at > 0) {
    run.say(fmt::format("resumed     at {:.2f} s", told.find("resumed_at_s")->as_real()));
  }
  run.say(
      fmt::format("network     {:.2f} s for {:.2f} s of audio; all stems together differ from the mixture by {:.1f} dB",
                  times.network, audio_s, result.written.consistency_db));
  if (!result.quality.is_null()) report_quality(result.quality, told, run);
  if (times.slow_chunks > 0) {
    run.say(fmt::format("times       {} of {} chunks took more than twice the median of {}", times.slow_chunks,
                        result.chunks, format_seconds(times.chunk_median)));
  }
}

void report_preview(const SeparationTask& task, const SeparationResult& result, const SeparationSettings& settings,
                    Run& run) {
  if (result.passes_done > 1) {
    const bool is_power_of_two = (result.passes_done & (result.passes_done - 1)) == 0;
    if (!is_power_of_two) return;  // of a large overlap each says little
    run.say(fmt::format("better      {}, {} of {} passes", task.input, result.passes_done, result.passes));
    return;
  }
  const std::string folder = std::filesystem::path(task.record).parent_path().string();
  run.say(fmt::format("preview     {} after {}: stems of the first of {} passes are in {}{}", task.input,
                      format_seconds(result.times.first_result), result.passes, folder.empty() ? "." : folder,
                      settings.overlap > 1 ? ", as of overlap 1" : ""));
}

void report_network(const std::vector<Network::Time>& times, Value& moment) {
  std::vector<std::string> order;
  struct Stage {
    double seconds = 0, multiplications = 0;
    Index calls = 0;
  };
  std::map<std::string, Stage> stages;
  Value& network = moment["network"];
  for (const Network::Time& each : times) {
    Stage& stage = stages[each.stage];
    if (stage.calls == 0) order.push_back(each.stage);
    stage.seconds += each.total_s, stage.calls = each.calls;
    stage.multiplications += each.multiplications * static_cast<double>(each.calls);
    Value& layer = network["layers"].push_back(Value::object());
    layer["stage"] = each.stage;
    layer["weight"] = each.weight;
    layer["algorithm"] = each.method;
    layer["dtype"] = "f32";
    layer["ms"] = each.calls == 0 ? 0 : 1e3 * each.total_s / static_cast<double>(each.calls);
  }
  for (const std::string& name : order) {
    const Stage& stage = stages[name];
    Value& told = network["stages"].push_back(Value::object());
    told["stage"] = name;
    told["wall_s"] = stage.seconds;
    told["calls"] = stage.calls;
    told["flops"] = 2 * stage.multiplications;
    told["gflops"] = stage.seconds > 0 ? 2e-9 * stage.multiplications / stage.seconds : 0;
  }
}

}  // namespace sonde::separate
