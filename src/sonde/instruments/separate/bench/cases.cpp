// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/bench/cases.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/weights/structure.h"

namespace sonde::separate {
namespace {

/// The published drum network of five stems, with as many frames as a point asks for.
Config drum_network(Index frames) {
  Config config = known_configs().front().config;
  config.chunk = (frames - 1) * config.hop;
  check(config);
  return config;
}

struct Prepared {
  Config config;
  Plan plan;
  std::vector<float> samples, stems;
  double network_s = 0;

  explicit Prepared(Index frames)
      : config(drum_network(frames)),
        plan(Plan::prepare(config, formula_values(config, 1))),
        samples(static_cast<std::size_t>(2 * config.chunk)),
        stems(5 * samples.size()) {
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i % 97) / 97 - 0.5F;
  }

  void run() {
    plan.run({samples.data(), 2, config.chunk}, {stems.data(), 5, 2, config.chunk});
    network_s = 0;
    for (const Plan::Time& each : plan.times()) network_s += each.method == "fourier" ? 0 : each.seconds;
  }
};

PreparedCase prepare_network(const BenchPoint& point) {
  const Index frames = whole_size(point.size, "frames");
  const auto prepared = std::make_shared<Prepared>(frames);
  const double flops = 2 * multiplications(layer_list(prepared->config));
  PreparedCase made;
  made.operations.push_back({.name = "network",
                             .run = [prepared] { prepared->run(); },
                             .flops = flops,
                             .own_s = [prepared] { return prepared->network_s; }});
  made.peers.push_back(
      python_peer("PyTorch", "torch_tfc_tdf.py", {std::to_string(frames), "5", std::to_string(point.workers)}));
  made.input = fmt::format("{} frames ({:.2f} s of audio) through the drum network of five stems, {:.0f} GFLOP", frames,
                           static_cast<double>(prepared->config.chunk) / 44100, flops / 1e9);
  return made;
}

}  // namespace

std::vector<BenchCase> bench_cases() {
  std::vector<BenchCase> all = {
      {.name = "separate-network",
       .summary = "One pass through a full-size drum network in float32, beside PyTorch on as many threads",
       .sizes = {"256"},
       .devices = {DeviceKind::cpu},
       .prepare = prepare_network,
       .targets = {{.name = "network", .of = {"network"}, .over = {"PyTorch"}, .limit = 0.6},
                   {.name = "network, next", .of = {"network"}, .over = {"PyTorch"}, .limit = 0.4}}}};
  for (BenchCase& each : song_cases()) all.push_back(std::move(each));
  return all;
}

}  // namespace sonde::separate
