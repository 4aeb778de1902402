// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/reference.h"

#include <gtest/gtest.h>

#include "tests/support/data.h"

#include "sonde/instruments/separate/network/test_arrays.h"
#include "sonde/instruments/separate/network/test_cases.h"

namespace sonde::separate {
namespace {

class ReferenceNetworkOn : public ::testing::TestWithParam<ReferenceCase> {};

/// The index of the last value of a stage.
int last_of(const LayerList& list, const std::string& stage) {
  int last = -1;
  for (const Layer& each : list.layers) {
    if (each.stage == stage) last = each.output;
  }
  return last;
}

// PyTorch's float32 differs from its own float64 by 3.4e-7 to 9e-7 of these outputs.
constexpr double rounding_of_the_other = 2e-6;

TEST_P(ReferenceNetworkOn, GivesEveryStageAndTheOutputOfPyTorch) {
  SONDE_NEED_DATA(data);
  const auto folder = data / "separation/reference" / GetParam().folder;
  const Config& config = GetParam().config;
  const ParameterValues values = formula_values(config, GetParam().seed);
  ReferenceNetwork network(config, values);
  const auto input = doubles(read_npy((folder / "input.npy").string()));
  const auto output = doubles(read_npy((folder / "output.npy").string()));
  const auto chunk = static_cast<std::size_t>(config.audio_channels * config.chunk);
  const std::size_t separated = config.stems().size() * chunk;

  // The stages are those of the first item of the batch, which therefore comes last here.
  for (std::size_t item = input.size() / chunk; item-- > 0;) {
    const auto got = network.run({input.data() + item * chunk, config.audio_channels, config.chunk});
    EXPECT_LT(relative_difference(got, std::span(output).subspan(item * separated, separated)), rounding_of_the_other);
  }
  const LayerList& list = network.layers();
  const std::string last = std::to_string(config.scales - 1);
  const auto stages = std::vector<std::pair<std::string, int>>{
      {"first_conv", last_of(list, "first")},  {"encoder0", last_of(list, "encoder0")},
      {"down0", last_of(list, "down0")},       {"bottleneck", last_of(list, "bottleneck")},
      {"up_last", last_of(list, "up" + last)}, {"decoder_last", last_of(list, "decoder" + last)},
      {"final_conv", last_of(list, "final")}};
  int compared = 0;
  for (const auto& [name, index] : stages) {
    SCOPED_TRACE(name);
    const auto file = folder / ("stage_" + name + ".npy");
    if (!std::filesystem::exists(file)) continue;
    auto expected = doubles(read_npy(file.string()));
    const ValueSize& size = list.values[static_cast<std::size_t>(index)];
    if (name.ends_with("conv")) expected = exchanged(expected, size.channels, size.columns, size.rows);
    EXPECT_LT(relative_difference(network.value(index), expected), rounding_of_the_other);
    ++compared;
  }
  EXPECT_GE(compared, 5);

  // The transform has its frequencies in one piece: channel j, frequency s F + f.
  const auto stft = doubles(read_npy((folder / "stft.npy").string()));
  const auto mixed = exchanged(stft, 2 * config.audio_channels, config.dim_f, config.frames());
  std::vector<double> joined(mixed.size());
  for (Index j = 0; j < 2 * config.audio_channels; ++j) {
    for (Index t = 0; t < config.frames(); ++t) {
      for (Index f = 0; f < config.dim_f; ++f) {
        const Index channel = j * config.subbands + f / config.band();
        joined[static_cast<std::size_t>((j * config.frames() + t) * config.dim_f + f)] = network.value(
            0)[static_cast<std::size_t>((channel * config.frames() + t) * config.band() + f % config.band())];
      }
    }
  }
  EXPECT_LT(relative_difference(joined, mixed), 1e-6);  // its float32 transform
}

INSTANTIATE_TEST_SUITE_P(Case, ReferenceNetworkOn, ::testing::ValuesIn(small_cases()),
                         [](const auto& each) { return std::string(1, each.param.folder[0]); });

TEST(ReferenceNetwork, WithoutWeightsSeparatesSilence) {
  const Config config = case_a().config;
  ParameterValues values;
  for (const Parameter& each : parameters(config, layer_list(config))) {
    values.emplace(each.name, Array::zeros(Device::cpu(), each.shape, DType::f32));
  }
  const std::vector<double> samples(static_cast<std::size_t>(2 * config.chunk), 0.5);
  for (const double x : ReferenceNetwork(config, values).run({samples.data(), 2, config.chunk})) ASSERT_EQ(x, 0);
}

}  // namespace
}  // namespace sonde::separate
