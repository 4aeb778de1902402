// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/plan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/network/spectrum.h"
#include "sonde/instruments/separate/network/step.h"
#include "sonde/instruments/separate/network/value_memory.h"

namespace sonde::separate {
struct Plan::Parts {
  Config config;
  LayerList list;
  std::vector<Step> steps;
  std::vector<NormOfStep> norms;             ///< of each step
  std::vector<std::vector<double>> moments;  ///< of each value: sums, then sums of squares, of its channels
  ValuePlaces places;
  Array values, scratch_memory;
  std::vector<Scratch> scratch;
  std::optional<Spectrum<float>> spectrum;
  StepTime spectrum_time, samples_time;

  Parts(const Config& of, const ParameterValues& parameter_values, const PlanOptions& options, bool share);
  [[nodiscard]] float* place(int value) {
    return static_cast<float*>(values.data()) + places.first[static_cast<std::size_t>(value)];
  }
  [[nodiscard]] View<float, 3> input_view();
  [[nodiscard]] View<const float, 3> stem_view(Index stem);
  void normalise(Step& step, const NormOfStep& norm) const;
  void collect_moments(const Step& step);
  void run(View<const float, 2> samples, View<float, 3> stems);
};

Plan::Parts::Parts(const Config& of, const ParameterValues& parameter_values, const PlanOptions& options, bool share)
    : config(of),
      list(layer_list(of)),
      moments(list.values.size()),
      places(place_values(list, share)),
      values(Device::cpu(), {places.count}, DType::f32) {
  const bool from_values = config.norm == Norm::instance || config.norm == Norm::group;
  std::vector<bool> summed(list.values.size(), false);
  for (const Layer& layer : list.layers) {
    for (const int input : layer.inputs) {
      if (input >= 0 && from_values && !layer.norm.empty()) summed[static_cast<std::size_t>(input)] = true;
    }
  }
  ScratchSizes sizes;
  for (const Layer& layer : list.layers) {
    Step& step = steps.emplace_back(shaped_step(layer, list, config, options.of(steps.size())));
    step.output = place(layer.output);
    for (const int input : layer.inputs) {
      if (input < 0) continue;
      step.inputs.push_back({.data = place(input), .channels = list.values[static_cast<std::size_t>(input)].channels});
    }
    if (summed[static_cast<std::size_t>(layer.output)]) {
      step.sums_output = true;
      step.band_moments.resize(static_cast<std::size_t>(step.bands() * 2 * step.out.channels));
      moments[static_cast<std::size_t>(layer.output)].resize(static_cast<std::size_t>(2 * step.out.channels));
    }
    norms.push_back(prepare_norm(step, config, parameter_values));
    pack_weights(step, parameter_values);
    sizes.cover(scratch_sizes(step));
  }
  const auto workers = static_cast<Index>(worker_limit());
  scratch_memory = Array(Device::cpu(), {std::max(Index{1}, workers * sizes.sum())}, DType::f32);
  scratch = scratch_of_workers(static_cast<float*>(scratch_memory.data()), sizes);
  spectrum = Spectrum<float>::prepare(config);
}

/// Scale and shift of a norm from the moments of the inputs, in float64.
void Plan::Parts::normalise(Step& step, const NormOfStep& norm) const {
  if (norm.gamma.empty()) return;
  // The channel of all inputs together as (input, channel).
  std::size_t input = 0;
  Index channel = 0;
  for (Index first = 0; first < step.channels; first += norm.together) {
    double sum = 0, squares = 0;
    for (Index c = 0; c < norm.together; ++c) {
      if (channel == step.inputs[input].channels) ++input, channel = 0;
      const auto& of = moments[static_cast<std::size_t>(step.layer.inputs[input])];
      sum += of[static_cast<std::size_t>(channel)];
      squares += of[static_cast<std::size_t>(step.inputs[input].channels + channel)];
      ++channel;
    }
    const double count = static_cast<double>(norm.together * step.in.rows * step.in.columns);
    const double mean = sum / count, variance = std::max(0.0, squares / count - mean * mean);
    for (Index c = first; c < first + norm.together; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const double scale = static_cast<double>(norm.gamma[at]) / std::sqrt(variance + 1e-5);
      step.scale[at] = static_cast<float>(scale);
      step.shift[at] = static_cast<float>(static_cast<double>(norm.beta[at]) - mean * scale);
    }
  }
}

void Plan::Parts::collect_moments(const Step& step) {
  if (!step.sums_output) return;
  auto& sums = moments[static_cast<std::size_t>(step.layer.output)];
  std::fill(sums.begin(), sums.end(), 0.0);
  for (std::size_t i = 0; i < step.band_moments.size(); ++i) sums[i % sums.size()] += step.band_moments[i];
}

View<float, 3> Plan::Parts::input_view() {
  const ValueSize& size = list.values.front();
  View<float, 3> view(place(0), size.channels, size.rows, size.columns);
  view.stride[0] = 1, view.stride[1] = size.columns * size.channels, view.stride[2] = size.channels;
  return view;
}

View<const float, 3> Plan::Parts::stem_view(Index stem) {
  const ValueSize& size = list.values.back();
  View<const float, 3> view(place(static_cast<int>(list.values.size()) - 1) + stem * config.input_channels(),
                            config.input_channels(), size.rows, size.columns);
  view.stride[0] = 1, view.stride[1] = size.columns * size.channels, view.stride[2] = size.channels;
  return view;
}

void Plan::Parts::run(View<const float, 2> samples, View<float, 3> stems) {
  Stream stream(Device::cpu());
  Stopwatch watch;
  spectrum->forward(stream, samples, input_view());
  spectrum_time.add(watch.seconds());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    watch.restart();
    normalise(steps[i], norms[i]);
    run_step(steps[i], scratch);
    collect_moments(steps[i]);
    steps[i].time.add(watch.seconds());
  }
  watch.restart();
  for (Index stem = 0; stem < stems.extent[0]; ++stem) spectrum->inverse(stream, stem_view(stem), stems[stem]);
  samples_time.add(watch.seconds());
}

Plan::Plan(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

Plan Plan::prepare(const Config& config, const ParameterValues& values, const PlanOptions& options) {
  return Plan(std::make_unique<Parts>(config, values, options, true));
}

Plan Plan::prepare_to_look(const Config& config, const ParameterValues& values, const PlanOptions& options) {
  return Plan(std::make_unique<Parts>(config, values, options, false));
}

void Plan::run(View<const float, 2> samples, View<float, 3> stems) { parts_->run(samples, stems); }

Plan::Bytes Plan::bytes_for(const Config& config, const PlanOptions& options) {
  const LayerList list = layer_list(config);
  ScratchSizes sizes;
  Index weights = 0;
  for (std::size_t i = 0; i < list.layers.size(); ++i) {
    const Step step = shaped_step(list.layers[i], list, config, options.of(i));
    weights += weight_count(step);
    sizes.cover(scratch_sizes(step));
  }
  const auto bytes = [](Index numbers) { return sizeof(float) * static_cast<std::size_t>(numbers); };
  return {.weights = bytes(weights),
          .values = bytes(place_values(list, true).count),
          .scratch = bytes(static_cast<Index>(worker_limit()) * sizes.sum()),
          .spectrum = Spectrum<float>::bytes_for(config)};
}

std::vector<Plan::Time> Plan::times() const {
  std::vector<Time> all;
  const auto add = [&](std::string stage, std::string weight, std::string method, double work, const StepTime& time) {
    all.push_back({.stage = std::move(stage),
                   .weight = std::move(weight),
                   .method = std::move(method),
                   .multiplications = work,
                   .seconds = time.last_s,
                   .total_s = time.total_s,
                   .calls = time.calls});
  };
  add("spectrum", "", "fourier", 0, parts_->spectrum_time);
  for (const Step& step : parts_->steps) {
    add(step.layer.stage, step.layer.weight, method_name(step), multiplications(parts_->list, step.layer), step.time);
  }
  add("samples", "", "fourier", 0, parts_->samples_time);
  return all;
}

Plan::Bytes Plan::bytes() const {
  Bytes bytes{.values = parts_->values.allocated_bytes(),
              .scratch = parts_->scratch_memory.allocated_bytes(),
              .spectrum = parts_->spectrum->bytes()};
  for (const Step& step : parts_->steps) bytes.weights += step.weights.allocated_bytes();
  return bytes;
}

View<const float, 3> Plan::value(int index) const {
  const ValueSize& size = parts_->list.values[static_cast<std::size_t>(index)];
  return {parts_->place(index), size.rows, size.columns, size.channels};
}

}  // namespace sonde::separate
