// SPDX-License-Identifier: Apache-2.0
// For tests: an engine of the table as far as memory asks, with settings as people write them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sonde/instruments/ptycho/run/memory_plan.h"

namespace sonde::ptycho::testing {

inline EngineSize engine(const std::string& name,
                         const std::vector<std::pair<std::string, std::string>>& settings = {}) {
  std::unique_ptr<EngineSetup> setup = engine_kind(name).setup();
  Fields fields;
  setup->describe(fields);
  for (const auto& [key, value] : settings) fields.assign_text(key, value, "test");
  return {.name = name, .setup = std::move(setup)};
}

}  // namespace sonde::ptycho::testing
