// SPDX-License-Identifier: Apache-2.0
// Where the time of a pass goes, layer type by layer type.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "sonde/instruments/separate/bench/cases.h"
#include "sonde/instruments/separate/bench/drum_pass.h"

namespace sonde::separate {
namespace {

/// Layers of one type, and the least that they compute and move.
struct LayerGroup {
  std::string name;
  std::vector<std::size_t> members{};  ///< places in the layer list
  double flops = 0, bytes = 0;
};

std::string type_of(const Layer& layer, Index outputs, const std::string& method) {
  switch (layer.kind) {
    case LayerKind::down:
      return "down";
    case LayerKind::up:
      return "up";
    case LayerKind::linear:
      return "linear";
    case LayerKind::product:
      return "product";
    case LayerKind::convolution:
      break;
  }
  return layer.kernel == 1 ? "1 x 1" : fmt::format("3 x 3 to {} channels, {}", outputs, method);
}

std::vector<LayerGroup> groups_of(const LayerList& list, const std::vector<Plan::Time>& times) {
  std::vector<LayerGroup> groups;
  for (std::size_t i = 0; i < list.layers.size(); ++i) {
    const Layer& layer = list.layers[i];
    const ValueSize& out = list.values[static_cast<std::size_t>(layer.output)];
    const std::string& method = times[i + 1].method;  // the first time is that of the spectrum
    const std::string name = type_of(layer, out.channels, method);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& each) { return each.name == name; });
    if (group == groups.end()) {
      groups.push_back({.name = name});
      group = std::prev(groups.end());
    }
    group->members.push_back(i);
    // F(4 x 4, 3 x 3) needs 36 multiplications for 16 pixels, in place of 144.
    group->flops += 2 * multiplications(list, layer) / (method == "winograd" ? 4 : 1);
    Index numbers = out.count();
    for (const int value : {layer.inputs[0], layer.inputs[1], layer.add}) {
      if (value >= 0) numbers += list.values[static_cast<std::size_t>(value)].count();
    }
    group->bytes += static_cast<double>(sizeof(float)) * static_cast<double>(numbers);
  }
  return groups;
}

PreparedCase prepare_layers(const BenchPoint& point) {
  const auto pass = std::make_shared<DrumPass>(whole_size(point.size, "frames"));
  PreparedCase made;
  made.operations.push_back(
      {.name = "network", .run = [pass] { pass->run(); }, .own_s = [pass] { return pass->network_s; }});
  for (LayerGroup& group : groups_of(layer_list(pass->config), pass->plan.times())) {
    // Of the pass before: operations take turns.
    const auto seconds = [pass, members = std::move(group.members)] {
      const std::vector<Plan::Time> times = pass->plan.times();
      double sum = 0;
      for (const std::size_t i : members) sum += times[i + 1].seconds;
      return sum;
    };
    made.operations.push_back(
        {.name = std::move(group.name), .run = [] {}, .bytes = group.bytes, .flops = group.flops, .own_s = seconds});
  }
  made.input = fmt::format(
      "{} frames through the drum network of five stems; the column \"machine\" is the least time of a layer type, by "
      "its operations or its bytes, over what it takes",
      pass->config.frames());
  return made;
}

}  // namespace

BenchCase layers_case() {
  return {.name = "separate-layers",
          .summary = "Types of layers of a full-size drum network, beside the least time that each can take",
          .sizes = {"256"},
          .devices = {DeviceKind::cpu},
          .prepare = prepare_layers};
}

}  // namespace sonde::separate
