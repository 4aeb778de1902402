// SPDX-License-Identifier: Apache-2.0
// Every operation is tested on every device: class SumOnEachDevice : public EachDevice {}; TEST_P(SumOnEachDevice,
// ...); INSTANTIATE_EACH_DEVICE(SumOnEachDevice). Each test file derives its own fixture.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sonde/engine/device/device.h"
#include "tests/support/test_devices.h"

namespace sonde::testing {

class EachDevice : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && Device::all().size() < 2) GTEST_SKIP() << "no GPU: " << Device::why_no_gpu();
  }
  /// To the program, the stand-in is the first GPU.
  [[nodiscard]] static Device device() { return Device::parse(GetParam() == "cuda-host" ? "cuda" : GetParam()).value; }
};

/// "cuda_host": names of tests have no dashes.
inline std::string name_of_device(const ::testing::TestParamInfo<std::string>& each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Those that are no CPU: of what only a GPU does.
inline std::vector<std::string> test_gpus() {
  std::vector<std::string> made = test_devices();
  std::erase(made, "cpu");
  return made;
}

}  // namespace sonde::testing

#define INSTANTIATE_EACH_DEVICE(fixture)                                                     \
  INSTANTIATE_TEST_SUITE_P(, fixture, ::testing::ValuesIn(::sonde::testing::test_devices()), \
                           ::sonde::testing::name_of_device)
#define INSTANTIATE_EACH_GPU(fixture)                                                     \
  INSTANTIATE_TEST_SUITE_P(, fixture, ::testing::ValuesIn(::sonde::testing::test_gpus()), \
                           ::sonde::testing::name_of_device)
