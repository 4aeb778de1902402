// SPDX-License-Identifier: Apache-2.0
// A signal of several chunks through the network of each device.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/devices.h"

#include "sonde/instruments/separate/network/device_plan.h"
#include "sonde/instruments/separate/network/test_arrays.h"
#include "sonde/instruments/separate/network/test_cases.h"
#include "sonde/instruments/separate/run/samples.h"

namespace sonde::separate {
namespace {

class SeparationOnEach : public sonde::testing::EachDevice {};

TEST_P(SeparationOnEach, GivesTheStemsOfTheCpuForASignalOfSeveralChunks) {
  const ReferenceCase of = case_b();
  const ParameterValues values = formula_values(of.config, of.seed);
  const Index channels = of.config.audio_channels, count = 2 * of.config.chunk + 17;
  std::vector<float> samples(static_cast<std::size_t>(channels * count));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(0.3 * std::sin(0.05 * static_cast<double>(i)));
  }
  Plan on_cpu = Plan::prepare(of.config, values);
  DevicePlan on_device = DevicePlan::prepare(device(), of.config, values);
  const SeparationSettings settings{.overlap = 2, .tta = true};
  const View<const float, 2> signal(samples.data(), channels, count);
  const auto expected = doubles(separate_samples(signal, settings, of.config, on_cpu));
  const auto got = doubles(separate_samples(signal, settings, of.config, on_device));
  EXPECT_LT(relative_difference(got, expected), 1e-5);  // float32 on both sides, as against PyTorch's arrays
}

INSTANTIATE_EACH_DEVICE(SeparationOnEach);

}  // namespace
}  // namespace sonde::separate
