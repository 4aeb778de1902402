// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/bench/drum_pass.h"

#include "sonde/instruments/separate/weights/structure.h"

namespace sonde::separate {
namespace {

Config drum_network(Index frames) {
  Config config = known_configs().front().config;
  config.chunk = (frames - 1) * config.hop;
  check(config);
  return config;
}

}  // namespace

DrumPass::DrumPass(Index frames)
    : config(drum_network(frames)),
      plan(Plan::prepare(config, formula_values(config, 1))),
      samples(static_cast<std::size_t>(2 * config.chunk)),
      stems(5 * samples.size()) {
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i % 97) / 97 - 0.5F;
}

void DrumPass::run() {
  plan.run({samples.data(), 2, config.chunk}, {stems.data(), 5, 2, config.chunk});
  network_s = 0;
  for (const Plan::Time& each : plan.times()) network_s += each.method == "fourier" ? 0 : each.seconds;
}

}  // namespace sonde::separate
