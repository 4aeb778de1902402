// SPDX-License-Identifier: Apache-2.0
// What makes a test program one of the stand-in: its only device, and the rule that a test fails with a finding.
#include <gtest/gtest.h>

#include "tests/cuda_host/cuda_host.h"
#include "tests/support/test_devices.h"

namespace sonde::testing {

std::vector<std::string> test_devices() { return {"cuda-host"}; }

}  // namespace sonde::testing

namespace {

class Findings : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    cuda_host::finish();
    const std::string found = cuda_host::failure();
    cuda_host::reset();
    if (!found.empty()) ADD_FAILURE() << "on the device: " << found;
  }
};

const bool listening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Findings);
  return true;
}();

}  // namespace
