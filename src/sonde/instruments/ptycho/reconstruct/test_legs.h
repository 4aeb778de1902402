// SPDX-License-Identifier: Apache-2.0
// Runs of tests: engines one after the other, with their settings as a run file would have them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho::testing {

using Settings = std::map<std::string, std::string>;

/// An engine of a run.
struct Leg {
  std::string engine;
  Index iterations;
  Settings settings{};
};

/// A run without hold-out and stop rule, as references were made.
inline Schedule schedule_of(const std::vector<Leg>& legs) {
  Schedule schedule;
  for (const Leg& leg : legs) {
    std::shared_ptr<EngineSetup> setup = engine_kind(leg.engine).setup();
    Fields fields;
    setup->describe(fields);
    for (const auto& [key, value] : leg.settings) fields.assign_text(key, value, key);
    schedule.engines.push_back({leg.engine, leg.iterations, setup});
  }
  schedule.stop.rule = StopRule::off;
  schedule.holdout = 0.0;
  return schedule;
}

}  // namespace sonde::ptycho::testing
