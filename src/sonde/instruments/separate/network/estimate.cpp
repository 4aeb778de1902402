// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/estimate.h"

#include <algorithm>

#include "sonde/instruments/separate/network/step.h"

namespace sonde::separate {
namespace {

// Of fewer frames the deep layers have so few rows that reading their weights counts too much: 64 of them predict a
// third more for the drum network of six stems (256 frames) than it takes.
constexpr Index frames_of_probe = 256;

/// The same network on a part of its frames.
Config shortened(const Config& config) {
  Index step = 1;
  for (Index i = 0; i < config.scales; ++i) step *= config.scale_time;
  Index frames = (frames_of_probe + step - 1) / step * step;
  while ((frames - 1) * config.hop <= config.n_fft / 2) frames += step;  // for the reflection at the ends
  Config part = config;
  if (frames < config.frames()) part.chunk = (frames - 1) * config.hop;
  return part;
}

/// The method of the rule, unless the other one is faster by more than such measurements differ from each other.
ConvolutionMethod faster(ConvolutionMethod of_rule, const MethodTimes& times) {
  constexpr double clearly = 0.95;
  if (times.winograd_s < clearly * times.direct_s) return ConvolutionMethod::winograd;
  if (times.direct_s < clearly * times.winograd_s) return ConvolutionMethod::direct;
  return of_rule;
}

}  // namespace

std::vector<ConvolutionMethod> methods_within(const Config& config, std::size_t bytes,
                                              const std::vector<MethodTimes>& times) {
  const LayerList list = layer_list(config);
  std::vector<ConvolutionMethod> methods;
  struct Saving {
    std::size_t layer;
    double bytes_each;  ///< saved, for each multiplication or second that direct convolutions take more
  };
  std::vector<Saving> savings;
  for (std::size_t i = 0; i < list.layers.size(); ++i) {
    const Layer& layer = list.layers[i];
    Step step = shaped_step(layer, list, config, ConvolutionMethod::automatic);
    if (!times.empty() && layer.kernel == 3) step.method = faster(step.method, times[i]);
    methods.push_back(step.method);
    if (!step.tiled()) continue;
    const Step direct = shaped_step(layer, list, config, ConvolutionMethod::direct);
    const double more = times.empty() ? multiplications(list, layer) : times[i].direct_s - times[i].winograd_s;
    savings.push_back({i, static_cast<double>(weight_count(step) - weight_count(direct)) / std::max(more, 1e-9)});
  }
  std::sort(savings.begin(), savings.end(),
            [](const Saving& a, const Saving& b) { return a.bytes_each > b.bytes_each; });
  for (const Saving& each : savings) {
    if (Plan::bytes_for(config, {.methods = methods}).sum() <= bytes) break;
    methods[each.layer] = ConvolutionMethod::direct;
  }
  return methods;
}

std::size_t probe_bytes(const Config& config, const std::vector<ConvolutionMethod>& methods) {
  const Plan::Bytes bytes = Plan::bytes_for(shortened(config), {.methods = methods});
  Index values = 0;
  for (const Parameter& each : parameters(config, layer_list(config))) values += each.shape.count();
  return bytes.sum() + sizeof(float) * static_cast<std::size_t>(values);
}

double probe_seconds(const Config& config, const std::vector<ConvolutionMethod>& methods) {
  const Config part = shortened(config);
  ParameterValues values;
  for (const Parameter& each : parameters(part, layer_list(part))) {
    Array zeros(Device::cpu(), each.shape, DType::f32);
    std::fill_n(static_cast<float*>(zeros.data()), zeros.count(), 0.0F);
    values.emplace(each.name, std::move(zeros));
  }
  Plan plan = Plan::prepare(part, values, {.methods = methods});
  values.clear();
  const auto stems = static_cast<Index>(part.stems().size());
  const std::vector<float> samples(static_cast<std::size_t>(part.audio_channels * part.chunk));
  std::vector<float> made(samples.size() * static_cast<std::size_t>(stems));
  const auto run = [&] {
    plan.run({samples.data(), part.audio_channels, part.chunk}, {made.data(), stems, part.audio_channels, part.chunk});
  };
  run();
  run();
  double seconds = 0;
  for (const Plan::Time& each : plan.times()) seconds += each.seconds;
  return seconds * static_cast<double>(config.frames()) / static_cast<double>(part.frames());
}

}  // namespace sonde::separate
