// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/bench/cases.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sonde/instruments/separate/bench/drum_pass.h"

namespace sonde::separate {
namespace {

PreparedCase prepare_network(const BenchPoint& point) {
  const Index frames = whole_size(point.size, "frames");
  const auto prepared = std::make_shared<DrumPass>(frames);
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
                   {.name = "network, next", .of = {"network"}, .over = {"PyTorch"}, .limit = 0.4}}},
      {.name = "separate-memory",
       .summary = "All frames of that network, in its time and its memory beside PyTorch",
       .sizes = {"1024"},
       .devices = {DeviceKind::cpu},
       .prepare = prepare_network,
       .targets = {{.name = "network", .of = {"network"}, .over = {"PyTorch"}, .limit = 0.6},
                   {.name = "memory",
                    .of = {"network"},
                    .over = {"PyTorch"},
                    .limit = 0.8,
                    .what = Target::What::peak_memory}},
       .least = 1}};
  all.push_back(layers_case());
  for (BenchCase& each : song_cases()) all.push_back(std::move(each));
  return all;
}

}  // namespace sonde::separate
