// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/bench/cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/devices.h"

namespace sonde::maxwell {
namespace {

class MaxwellCasesOnEachDevice : public sonde::testing::EachDevice {
 protected:
  /// The differences that the operations of a case find, each run once; none where the case has not this device.
  static std::vector<double> differences(const std::string& name, const std::string& size) {
    const std::vector<BenchCase> cases = bench_cases();
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const BenchCase& c) { return c.name == name; });
    std::vector<double> made;
    for (const Operation& each : found->prepare({.size = size, .device = device()}).operations) {
      if (each.before) each.before();
      each.run();
      if (each.difference) made.push_back(each.difference());
    }
    return made;
  }
};

TEST_P(MaxwellCasesOnEachDevice, FindTheSameRecordsWithAGraphAndWithout) {
  // On the CPU both ways are the same steps.
  EXPECT_EQ(differences("maxwell-graph", "28"), (std::vector<double>{0, 0}));
}

TEST_P(MaxwellCasesOnEachDevice, FindTheSameRecordsHoweverManyShotsRunAtTheSameTime) {
  const std::vector<double> found = differences("maxwell-shots", "28");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found, std::vector<double>(found.size(), 0));
}

INSTANTIATE_EACH_DEVICE(MaxwellCasesOnEachDevice);

}  // namespace
}  // namespace sonde::maxwell
