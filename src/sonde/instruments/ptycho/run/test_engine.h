// SPDX-License-Identifier: Apache-2.0
// For tests of memory plans: an engine of the table with settings as people write them, and lines of a plan.
#pragma once

#include <gtest/gtest.h>

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

inline std::size_t bytes_of(const MemoryPlan& plan, const std::string& what) {
  for (const MemoryPlan::Line& line : plan.lines)
    if (line.what == what) return line.bytes;
  ADD_FAILURE() << "no line " << what << " in\n" << plan.text();
  return 0;
}

}  // namespace sonde::ptycho::testing
