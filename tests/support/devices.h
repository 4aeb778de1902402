// SPDX-License-Identifier: Apache-2.0
// Every operation is tested on every device: class SumOnEachDevice : public EachDevice {}; TEST_P(SumOnEachDevice,
// ...); INSTANTIATE_EACH_DEVICE(SumOnEachDevice). Each test file derives its own fixture.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sonde/engine/device/device.h"

namespace sonde::testing {

/// Always "cpu" and "cuda", so that the table of tests is the same everywhere; an absent one is a counted skip.
inline std::vector<std::string> test_devices() { return {"cpu", "cuda"}; }

class EachDevice : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && Device::all().size() < 2) GTEST_SKIP() << "no GPU: " << Device::why_no_gpu();
  }
  [[nodiscard]] static Device device() { return Device::parse(GetParam()).value; }
};

}  // namespace sonde::testing

#define INSTANTIATE_EACH_DEVICE(fixture)                                                     \
  INSTANTIATE_TEST_SUITE_P(, fixture, ::testing::ValuesIn(::sonde::testing::test_devices()), \
                           [](const auto& each) { return each.param; })
