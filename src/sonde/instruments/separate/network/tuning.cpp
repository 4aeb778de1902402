// SPDX-License-Identifier: Apache-2.0
// Both methods of 3 x 3 convolutions on each layer of a network, in turns with nothing: a layer by itself.
#include <algorithm>
#include <array>
#include <map>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/network/estimate.h"
#include "sonde/instruments/separate/network/step.h"

namespace sonde::separate {
namespace {

/// A layer that computes with zeros.
struct Trial {
  Step step;
  ScratchSizes sizes;

  Trial(const Layer& layer, const LayerList& list, const Config& config, ConvolutionMethod method)
      : step(shaped_step(layer, list, config, method)), sizes(scratch_sizes(step)) {}

  [[nodiscard]] Index inputs() const { return step.in.rows * step.in.columns * step.channels; }
  [[nodiscard]] Index scratch() const { return static_cast<Index>(worker_limit()) * sizes.sum(); }
  [[nodiscard]] Index count() const { return inputs() + step.out.count() + weight_count(step) + scratch(); }

  double seconds(const LayerList& list) {
    const auto zeros = [](Index count) { return Array::zeros(Device::cpu(), {std::max(Index{1}, count)}, DType::f32); };
    const Array in = zeros(inputs());
    Array out = zeros(step.out.count()), work = zeros(scratch());
    step.weights = zeros(weight_count(step));
    step.output = static_cast<float*>(out.data());
    const auto* at = static_cast<const float*>(in.data());
    for (const int input : step.layer.inputs) {
      if (input < 0) continue;
      const ValueSize& size = list.values[static_cast<std::size_t>(input)];
      step.inputs.push_back({.data = at, .channels = size.channels});
      at += size.count();
    }
    step.scale.assign(static_cast<std::size_t>(step.channels), 1);
    step.shift.assign(static_cast<std::size_t>(step.channels), 0);
    step.sums_output = true;
    step.band_moments.resize(static_cast<std::size_t>(step.bands() * 2 * step.out.channels));
    auto scratch = scratch_of_workers(static_cast<float*>(work.data()), sizes);
    std::array<double, 2> taken{};
    for (double& each : taken) {
      const Stopwatch watch;
      run_step(step, scratch);
      each = watch.seconds();
    }
    return std::min(taken[0], taken[1]);
  }
};

using Size = std::array<Index, 5>;
Size size_of(const Trial& trial) {
  return {trial.step.out.rows, trial.step.out.columns, trial.step.channels, trial.step.out.channels,
          static_cast<Index>(trial.step.layer.add >= 0)};
}

}  // namespace

std::vector<MethodTimes> measure_methods(const Config& config) {
  const LayerList list = layer_list(config);
  std::map<Size, MethodTimes> measured;
  std::vector<MethodTimes> times;
  for (const Layer& layer : list.layers) {
    MethodTimes& of = times.emplace_back();
    if (layer.kernel != 3) continue;
    Trial direct(layer, list, config, ConvolutionMethod::direct);
    const auto [at, is_new] = measured.try_emplace(size_of(direct));
    if (is_new) {
      at->second.direct_s = direct.seconds(list);
      direct.step.weights = Array();
      at->second.winograd_s = Trial(layer, list, config, ConvolutionMethod::winograd).seconds(list);
    }
    of = at->second;
  }
  return times;
}

std::size_t tuning_bytes(const Config& config) {
  const LayerList list = layer_list(config);
  Index most = 0;
  for (const Layer& layer : list.layers) {
    if (layer.kernel != 3) continue;
    most = std::max({most, Trial(layer, list, config, ConvolutionMethod::direct).count(),
                     Trial(layer, list, config, ConvolutionMethod::winograd).count()});
  }
  return sizeof(float) * static_cast<std::size_t>(most);
}

}  // namespace sonde::separate
