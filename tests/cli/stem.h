// SPDX-License-Identifier: Apache-2.0
// Scans and results for tests of the stem commands.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "tests/cli/program.h"
#include "tests/support/data.h"
#include "tests/support/files.h"

namespace sonde::testing {

/// The JSON document that `sonde ARGUMENTS --json --quiet` prints; the test fails unless it succeeds with exactly one.
inline Value json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--json", "--quiet"});
  const Ended ended = run(std::move(arguments));
  EXPECT_EQ(ended.status, 0) << ended.err;
  return ended.status == 0 ? parse_json(ended.out, "standard output") : Value::object();
}

/// A member reached by several keys; the test fails and null is returned where one is missing. Lives as long as
/// `value`.
inline const Value& at(const Value& value, const std::vector<std::string>& keys) {
  const Value* found = &value;
  for (const std::string& key : keys) {
    const Value* next = found->find(key);
    if (next == nullptr) {
      ADD_FAILURE() << "no \"" << key << "\" in " << to_json(*found);
      static const Value none;
      return none;
    }
    found = next;
  }
  return *found;
}

inline std::vector<Index> whole_numbers(const Value& list) {
  std::vector<Index> numbers;
  for (const Value& item : list.items()) numbers.push_back(item.as_whole());
  return numbers;
}

/// A small simulated acquisition in the ARINA layout: 12 x 10 positions of 32 x 40 pixels in files of 50 frames, two
/// masked and one hot pixel.
inline stem::SimulateOptions small_scan(const std::string& master) {
  stem::SimulateOptions options;
  options.output = master;
  options.scan_shape = "12,10";
  options.detector_shape = "32,40";
  options.disk_radius = 5;
  options.dose = 2;
  options.frames_per_file = 50;
  options.masked_pixels = 2;
  options.hot_pixels = 1;
  return options;
}

/// Writes small_scan() as "<folder>/<name>_master.h5" and returns its path.
inline std::string make_small_scan(const TemporaryFolder& folder, const std::string& name = "scan") {
  const std::string master = folder.file(name + "_master.h5");
  (void)stem::simulate(small_scan(master));
  return master;
}

}  // namespace sonde::testing
