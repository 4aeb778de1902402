// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/layers.h"

#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sonde::separate {
namespace {

/// What happens to a layer's inputs before its weights, and to its output behind them.
struct Around {
  std::string norm{};
  bool activate = false;
  int add = -1;
};

/// Writes the list from top to bottom.
class Writer {
 public:
  explicit Writer(const Config& config) : config_(config) {}

  LayerList write() {
    const int mix = value(config_.input_channels(), config_.frames(), config_.band());
    Index channels = config_.channels;
    stage_ = "first";
    const int first = convolution(1, channels, "first_conv.weight", {mix, -1});

    std::vector<int> skips;
    int x = first;
    for (Index level = 0; level < config_.scales; ++level) {
      stage_ = fmt::format("encoder{}", level);
      x = tfc_tdf(fmt::format("encoder_blocks.{}.tfc_tdf", level), {x, -1}, channels);
      skips.push_back(x);
      stage_ = fmt::format("down{}", level);
      x = resampled(LayerKind::down, fmt::format("encoder_blocks.{}.downscale.conv", level), x,
                    channels + config_.growth);
      channels += config_.growth;
    }
    stage_ = "bottleneck";
    x = tfc_tdf("bottleneck_block", {x, -1}, channels);
    for (Index level = 0; level < config_.scales; ++level) {
      stage_ = fmt::format("up{}", level);
      channels -= config_.growth;
      x = resampled(LayerKind::up, fmt::format("decoder_blocks.{}.upscale.conv", level), x, channels);
      stage_ = fmt::format("decoder{}", level);
      x = tfc_tdf(fmt::format("decoder_blocks.{}.tfc_tdf", level), {x, skips.back()}, channels);
      skips.pop_back();
    }
    stage_ = "final";
    const int masked = product(first, x);
    const int joined = convolution(1, channels, "final_conv.0.weight", {mix, masked});
    const auto stems = static_cast<Index>(config_.stems().size());
    convolution(1, stems * config_.input_channels(), "final_conv.2.weight", {joined, -1}, {.activate = true});
    return std::move(list_);
  }

 private:
  int value(Index channels, Index rows, Index columns) {
    list_.values.push_back({.channels = channels, .rows = rows, .columns = columns});
    return static_cast<int>(list_.values.size()) - 1;
  }
  [[nodiscard]] ValueSize at(int value) const { return list_.values[static_cast<std::size_t>(value)]; }

  int layer(Layer made, const ValueSize& output, const Around& around) {
    made.stage = stage_;
    if (config_.norm != Norm::none) made.norm = around.norm;
    made.activate = around.activate;
    made.add = around.add;
    made.output = value(output.channels, output.rows, output.columns);
    list_.layers.push_back(std::move(made));
    return list_.layers.back().output;
  }

  int convolution(Index kernel, Index channels, std::string weight, std::array<int, 2> inputs,
                  const Around& around = {}) {
    const ValueSize in = at(inputs[0]);
    return layer({.kind = LayerKind::convolution, .weight = std::move(weight), .inputs = inputs, .kernel = kernel},
                 {.channels = channels, .rows = in.rows, .columns = in.columns}, around);
  }

  int linear(Index columns, std::string weight, int input, const Around& around) {
    const ValueSize in = at(input);
    return layer({.kind = LayerKind::linear, .weight = std::move(weight), .inputs = {input, -1}},
                 {.channels = in.channels, .rows = in.rows, .columns = columns}, around);
  }

  int resampled(LayerKind kind, const std::string& name, int input, Index channels) {
    ValueSize size = at(input);
    size.channels = channels;
    size.rows = kind == LayerKind::down ? size.rows / config_.scale_time : size.rows * config_.scale_time;
    size.columns =
        kind == LayerKind::down ? size.columns / config_.scale_frequency : size.columns * config_.scale_frequency;
    return layer({.kind = kind, .weight = name + ".2.weight", .inputs = {input, -1}}, size,
                 {.norm = name + ".0", .activate = true});
  }

  int product(int first, int second) {
    return layer({.kind = LayerKind::product, .inputs = {first, second}}, at(first), {});
  }

  int tfc_tdf(const std::string& name, std::array<int, 2> x, Index channels) {
    for (Index block = 0; block < config_.blocks; ++block) {
      const std::string prefix = fmt::format("{}.blocks.{}.", name, block);
      const int shortcut = convolution(1, channels, prefix + "shortcut.weight", x);
      const int tfc =
          convolution(3, channels, prefix + "tfc1.2.weight", x, {.norm = prefix + "tfc1.0", .activate = true});
      const Index columns = at(tfc).columns;
      const int narrow = linear(columns / config_.bottleneck, prefix + "tdf.2.weight", tfc,
                                {.norm = prefix + "tdf.0", .activate = true});
      const int tdf =
          linear(columns, prefix + "tdf.5.weight", narrow, {.norm = prefix + "tdf.3", .activate = true, .add = tfc});
      x = {convolution(3, channels, prefix + "tfc2.2.weight", {tdf, -1},
                       {.norm = prefix + "tfc2.0", .activate = true, .add = shortcut}),
           -1};
    }
    return x[0];
  }

  const Config& config_;
  LayerList list_;
  std::string stage_;
};

Index channels_in(const LayerList& list, const Layer& layer) {
  Index channels = 0;
  for (const int input : layer.inputs) {
    if (input >= 0) channels += list.values[static_cast<std::size_t>(input)].channels;
  }
  return channels;
}

/// The field of the YAML file by which the shape of a layer's weights is decided.
std::string field_of(const Config& config, const LayerList& list, const Layer& layer) {
  if (layer.weight == "final_conv.2.weight") {
    return config.target.empty() ? "training.instruments" : "training.target_instrument";
  }
  if (layer.kind == LayerKind::linear) return "audio.dim_f, model.num_subbands or model.bottleneck_factor";
  if (layer.kind != LayerKind::convolution) return "model.num_channels, model.growth or model.scale";
  if (layer.inputs[0] == 0) return "audio.num_channels, model.num_subbands or model.num_channels";
  return list.values[static_cast<std::size_t>(layer.output)].channels == config.channels
             ? "model.num_channels"
             : "model.num_channels or model.growth";
}

std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

/// In [-1, 1), 24 bits of splitmix64.
float uniform(std::uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  state ^= state >> 31;
  return static_cast<float>(static_cast<double>(state >> 40) / 8388608.0 - 1.0);
}

}  // namespace

LayerList layer_list(const Config& config) { return Writer(config).write(); }

double multiplications(const LayerList& list, const Layer& layer) {
  const ValueSize& out = list.values[static_cast<std::size_t>(layer.output)];
  const double inputs = static_cast<double>(channels_in(list, layer));
  const double outputs = static_cast<double>(out.count());
  const ValueSize& in = list.values[static_cast<std::size_t>(layer.inputs[0])];
  switch (layer.kind) {
    case LayerKind::convolution:
      return outputs * inputs * static_cast<double>(layer.kernel * layer.kernel);
    case LayerKind::down:
      return outputs * inputs * static_cast<double>((in.rows / out.rows) * (in.columns / out.columns));
    case LayerKind::up:
      return outputs * inputs;
    case LayerKind::linear:
      return outputs * static_cast<double>(in.columns);
    case LayerKind::product:
      return 0;
  }
  return 0;
}

double multiplications(const LayerList& list) {
  double sum = 0;
  for (const Layer& layer : list.layers) sum += multiplications(list, layer);
  return sum;
}

std::vector<Parameter> parameters(const Config& config, const LayerList& list) {
  std::vector<Parameter> all;
  for (const Layer& layer : list.layers) {
    const ValueSize& in = list.values[static_cast<std::size_t>(layer.inputs[0])];
    const ValueSize& out = list.values[static_cast<std::size_t>(layer.output)];
    const Index channels = channels_in(list, layer);
    if (!layer.norm.empty()) {
      for (const char* part : {".weight", ".bias"}) {
        all.push_back({layer.norm + part, {channels}, "model.num_channels or model.growth"});
      }
      if (config.norm == Norm::batch) {
        for (const char* part : {".running_mean", ".running_var"}) {
          all.push_back({layer.norm + part, {channels}, "model.num_channels or model.growth"});
        }
      }
    }
    Shape shape;
    switch (layer.kind) {
      case LayerKind::convolution:
        shape = {out.channels, channels, layer.kernel, layer.kernel};
        break;
      case LayerKind::down:
        shape = {out.channels, channels, config.scale_time, config.scale_frequency};
        break;
      case LayerKind::up:
        shape = {channels, out.channels, config.scale_time, config.scale_frequency};
        break;
      case LayerKind::linear:
        shape = {out.columns, in.columns};
        break;
      case LayerKind::product:
        continue;
    }
    all.push_back({layer.weight, shape, field_of(config, list, layer)});
  }
  return all;
}

std::span<const float> elements(const ParameterValues& values, const std::string& name) {
  const Array& array = values.find(name)->second;
  return {static_cast<const float*>(array.data()), static_cast<std::size_t>(array.count())};
}

Array formula_values(const Parameter& parameter, std::uint64_t seed) {
  const auto ends = [&](std::string_view with) { return parameter.name.ends_with(with); };
  // 1-D: near the identity. Others: variance one over the inputs that meet in an output.
  float offset = 0, factor = 0.1F;
  if (parameter.shape.rank() > 1) {
    double fan = 1;
    for (int i = 1; i < parameter.shape.rank(); ++i) fan *= static_cast<double>(parameter.shape[i]);
    if (parameter.name.find(".upscale.") != std::string::npos) fan = static_cast<double>(parameter.shape[0]);
    factor = static_cast<float>(std::sqrt(3 / fan));
  } else if (ends("running_var")) {
    offset = 1, factor = 0.5F;
  } else if (ends("weight")) {
    offset = 1;
  }
  Array values(Device::cpu(), parameter.shape, DType::f32);
  auto* out = static_cast<float*>(values.data());
  const std::uint64_t base = hash_of(parameter.name) ^ (seed * golden);
  for (Index i = 0; i < values.count(); ++i) {
    const float u = uniform(base + static_cast<std::uint64_t>(i + 1) * golden);
    out[i] = offset == 0 ? factor * u : offset + factor * u;
  }
  return values;
}

ParameterValues formula_values(const Config& config, std::uint64_t seed) {
  ParameterValues values;
  for (const Parameter& each : parameters(config, layer_list(config))) {
    values.emplace(each.name, formula_values(each, seed));
  }
  return values;
}

}  // namespace sonde::separate
