// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <string>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/separate/verbs/algorithms.h"
#include "sonde/instruments/separate/verbs/expected_time.h"
#include "sonde/instruments/separate/verbs/gpu_network.h"
#include "sonde/instruments/separate/verbs/model_options.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

struct InfoOptions {
  ModelOptions model;
  void describe(Fields& fields) { model.describe(fields); }
};

Value value_of(const Config& config) {
  Value told = Value::object();
  told["sample_rate"] = config.sample_rate;
  told["audio_channels"] = config.audio_channels;
  told["n_fft"] = config.n_fft;
  told["hop_length"] = config.hop;
  told["dim_f"] = config.dim_f;
  told["chunk_size"] = config.chunk;
  told["frames"] = config.frames();
  told["num_subbands"] = config.subbands;
  told["num_scales"] = config.scales;
  told["num_blocks_per_scale"] = config.blocks;
  told["num_channels"] = config.channels;
  told["growth"] = config.growth;
  told["bottleneck_factor"] = config.bottleneck;
  told["scale"] = Value::List{config.scale_time, config.scale_frequency};
  told["norm"] = norm_name(config);
  told["act"] = activation_name(config);
  told["stems"] = config.stems();
  told["num_overlap"] = config.overlap;
  told["batch_size"] = config.batch;
  told["normalize"] = config.normalize;
  return told;
}

void report_file(const Checkpoint& checkpoint, Run& run) {
  Value& file = run.results()["checkpoint"];
  const double bytes = static_cast<double>(checkpoint.file->bytes().size());
  file["format"] = checkpoint.format;
  file["bytes"] = bytes;
  file["state_key"] = checkpoint.state_key;
  file["opaque_globals"] = checkpoint.opaque_globals;
  file["warnings"] = checkpoint.warnings;
  file["unverified_entries"] = checkpoint.unverified;
  Value& tensors = file["tensors"] = Value::list();
  std::map<std::string_view, Index> types;
  for (const auto& [key, tensor] : checkpoint.tensors) {
    Value& told = tensors.push_back(Value::object());
    told["name"] = key;
    told["dtype"] = name(tensor.type);
    Value& shape = told["shape"] = Value::list();
    for (int i = 0; i < tensor.shape.rank(); ++i) shape.push_back(tensor.shape[i]);
    ++types[name(tensor.type)];
  }
  std::vector<std::string> words;
  for (const auto& [type, count] : types) words.push_back(fmt::format("{} of {}", count, type));
  run.say(fmt::format("checkpoint  {}, {}, {}{}", checkpoint.path, checkpoint.format, format_bytes(bytes),
                      checkpoint.state_key.empty() ? "" : ", parameters in " + checkpoint.state_key));
  run.say("tensors     " + join_words(words));
  if (!checkpoint.opaque_globals.empty())
    run.say("not read    " + join_words(checkpoint.opaque_globals) +
            ": names of Python, of which nothing was executed");
}

void report_network(const Model& model, Run& run) {
  const Config& config = model.config;
  const LayerList list = layer_list(config);
  Index count = 0;
  for (const Parameter& each : parameters(config, list)) {
    if (!each.name.ends_with(".running_mean") && !each.name.ends_with(".running_var")) count += each.shape.count();
  }
  const double chunk_s = static_cast<double>(config.chunk) / static_cast<double>(config.sample_rate);
  const double gmac = multiplications(list) / 1e9;
  Value& results = run.results();
  results["configuration"] = model.configuration.value;
  results["configuration_because"] = model.configuration.because;
  results["network"] = value_of(config);
  results["parameters"] = count;
  results["layers"] = list.layers.size();
  results["chunk_s"] = chunk_s;
  results["gmac_per_chunk"] = gmac;
  results["gmac_per_second_of_audio"] = gmac / chunk_s;

  run.say(fmt::format("config      {}: {}", model.configuration.value, model.configuration.because));
  run.say(
      fmt::format("network     TFC-TDF v3, {} layers; {} channels, {} more on each of {} scales of {} blocks; {}, {}",
                  list.layers.size(), config.channels, config.growth, config.scales, config.blocks, norm_name(config),
                  activation_name(config)));
  run.say(fmt::format("spectrum    {} Hz, n_fft {}, hop {}, the lowest {} frequencies in {} sub-bands",
                      config.sample_rate, config.n_fft, config.hop, config.dim_f, config.subbands));
  run.say("stems       " + join_words(config.stems()));
  run.say(fmt::format("chunk       {} samples, {:.4g} s, {} frames", config.chunk, chunk_s, config.frames()));
  run.say(
      fmt::format("parameters  {}, {} as float32",
                  count < 1000000 ? std::to_string(count) : fmt::format("{:.1f} M", static_cast<double>(count) / 1e6),
                  format_bytes(4.0 * static_cast<double>(count))));
  run.say(fmt::format("work        {:.4g} GMAC per chunk of {:.4g} s, {:.3g} GMAC per second of audio without overlap",
                      gmac, chunk_s, gmac / chunk_s));
}

void report_cost_on_gpu(const Config& config, Run& run) {
  const GpuNetwork gpu = plan_on_gpu(config, Precision::automatic, run);
  run.results()["run"]["network_bytes"] = gpu.memory.peak_bytes;
  run.say(fmt::format("memory      {} of {}", format_bytes(static_cast<double>(gpu.memory.peak_bytes)),
                      run.device().info().name));
}

/// Memory and time of a chunk on this machine.
void report_cost(const Config& config, Run& run) {
  if (!run.device().is_cpu()) return report_cost_on_gpu(config, run);
  const std::vector<ConvolutionMethod> methods =
      choose_methods(config, run.host_budget().available_bytes(), false, run);
  const Plan::Bytes bytes = Plan::bytes_for(config, {.methods = methods});
  run.results()["run"]["network_bytes"] = bytes.sum();
  run.say(fmt::format("memory      {}: {} of weights, {} of values between layers",
                      format_bytes(static_cast<double>(bytes.sum())), format_bytes(static_cast<double>(bytes.weights)),
                      format_bytes(static_cast<double>(bytes.values))));
  const auto chunk_s = expected_chunk_seconds(config, methods, run);
  if (!chunk_s) return;
  const double audio_s = static_cast<double>(config.chunk) / static_cast<double>(config.sample_rate);
  run.results()["run"]["expected_chunk_s"] = chunk_s->value;
  run.say(fmt::format("times       {} a chunk, {:.3g} s for a second of audio without overlap, {}",
                      format_seconds(chunk_s->value), chunk_s->value / audio_s, chunk_s->because));
}

void run_info(const InfoOptions& options, Run& run) {
  auto reading = run.report().phase("read");
  const Model model = options.model.open(run);
  // The values too: what is missing, of another shape or not finite is said here, before any audio is decoded.
  if (model.checkpoint) static_cast<void>(model.values());
  reading.end();
  if (model.checkpoint) report_file(*model.checkpoint, run);
  report_network(model, run);
  report_cost(model.config, run);
}

}  // namespace

Verb info_verb() {
  return {
      .name = "separate info",
      .summary = "Say what a trained network is and what it costs",
      .details =
          "Reads checkpoints of PyTorch (ZIP archives and those before version 1.6) and safetensors files of MDX23C "
          "(TFC-TDF v3) networks. Nothing in a checkpoint is executed: names of Python that it holds are listed. "
          "The configuration is the YAML file that is given, or in the folder of the checkpoint the one of the same "
          "name, config_mdx23c.yaml, config.yaml or the only one whose numbers fit the tensors; without any, a known "
          "network whose shapes are the same. A configuration that contradicts the tensors is refused with the "
          "field and the tensor.\n\nThe work is counted in multiplications with weights (GMAC: 1e9 of them).",
      .examples = {{"sonde separate info --checkpoint DrumSep.ckpt", "Stems, size and work of a drum network"},
                   {"sonde separate info --checkpoint model.ckpt --model config.yaml --json",
                    "With its own configuration, every tensor as data"},
                   {"sonde separate info --checkpoint formula:1 --model config.yaml",
                    "Of a configuration without any checkpoint"}},
      .invoke = invocation<InfoOptions, run_info>};
}

}  // namespace sonde::separate
