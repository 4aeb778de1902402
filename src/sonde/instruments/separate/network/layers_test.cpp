// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/layers.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/errors.h"

#include "sonde/instruments/separate/network/test_cases.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;

double parameters_of(const Config& config) {
  double sum = 0;
  for (const Parameter& each : parameters(config, layer_list(config))) {
    if (each.name.find("running_") == std::string::npos) sum += static_cast<double>(each.shape.count());
  }
  return sum;
}

TEST(LayerList, HasAsManyParametersAsPyTorchCounts) {
  for (const ReferenceCase& each : small_cases()) {
    SCOPED_TRACE(each.folder);
    EXPECT_EQ(parameters_of(each.config), static_cast<double>(each.parameters));
  }
  EXPECT_EQ(parameters_of(case_e().config), 109376576);
}

// The published network of 5 drum stems: 1151e9 multiplications for 11.88 s of audio.
TEST(LayerList, CountsTheMultiplicationsOfTheDrumNetwork) {
  Config config = case_e().config;
  config.chunk = 1023 * 512;
  EXPECT_NEAR(multiplications(layer_list(config)), 1151e9, 0.5e9);
}

TEST(LayerList, EveryValueIsMadeOnceAndBeforeItIsUsed) {
  for (const ReferenceCase& each : small_cases()) {
    SCOPED_TRACE(each.folder);
    const LayerList list = layer_list(each.config);
    ASSERT_EQ(list.layers.size() + 1, list.values.size());
    for (std::size_t i = 0; i < list.layers.size(); ++i) {
      const Layer& layer = list.layers[i];
      EXPECT_EQ(layer.output, static_cast<int>(i) + 1);
      for (const int input : {layer.inputs[0], layer.inputs[1], layer.add}) EXPECT_LT(input, layer.output);
    }
  }
}

TEST(LayerList, EndsWithOneInputForEachStem) {
  const LayerList list = layer_list(case_e().config);
  EXPECT_EQ(list.values.back().channels, 5 * list.values.front().channels);
  EXPECT_EQ(list.values.back().rows, 64);
  EXPECT_EQ(list.values.back().columns, 256);
}

// Sums of the arrays from which PyTorch computed the reference.
TEST(FormulaValues, AreThoseOfTheReference) {
  const auto sums = [](const std::string& name, Shape shape) {
    const Array values = formula_values({.name = name, .shape = shape, .field = ""}, 5);
    const auto* x = static_cast<const float*>(values.data());
    std::pair<double, double> sum{0, 0};
    for (Index i = 0; i < values.count(); ++i) sum.first += x[i], sum.second += std::abs(x[i]);
    return sum;
  };
  const double rounding = 1e-9;  // the same numbers, added in another order
  const auto first = sums("first_conv.weight", {128, 16, 1, 1});
  EXPECT_NEAR(first.first, 6.974190432818432, rounding);
  EXPECT_NEAR(first.second, 446.1239262040399, rounding);
  EXPECT_NEAR(sums("encoder_blocks.0.tfc_tdf.blocks.0.tfc1.0.weight", {128}).first, 127.19586259126663, rounding);
  EXPECT_NEAR(sums("encoder_blocks.0.tfc_tdf.blocks.0.tfc1.0.bias", {128}).first, -0.4485080500598997, rounding);
  const auto last = sums("encoder_blocks.0.tfc_tdf.blocks.0.tfc1.2.weight", {128, 128, 3, 3});
  EXPECT_NEAR(last.first, -6.012377391609128, rounding);
  EXPECT_NEAR(last.second, 3764.003877335424, rounding);
}

TEST(Config, OfTheReferenceIsRight) {
  for (const ReferenceCase& each : small_cases()) EXPECT_NO_THROW(check(each.config)) << each.folder;
  EXPECT_NO_THROW(check(case_e().config));
}

TEST(Config, NamesTheFieldsThatDoNotFit) {
  Config config = case_a().config;
  config.chunk = 3967;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { check(config); }),
            "error: audio.chunk_size = 3967; expected a multiple of audio.hop_length = 128");
  config = case_a().config;
  config.n_fft = 511, config.dim_f = 256;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { check(config); }),
            "error: audio.n_fft = 511; expected an even number");
  config = case_a().config;
  config.dim_f = 260;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { check(config); }),
            "error: audio.dim_f = 260; expected at most audio.n_fft / 2 + 1 = 257");
  config = case_a().config;
  config.hop = 0;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { check(config); }), "error: audio.hop_length = 0; expected at least 1");
  config = case_c().config;
  config.groups = 3;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { check(config); }),
            "error: the configuration has several faults\n"
            "  - model.norm = GroupNorm3: level 0 has 8 channels; expected a multiple of 3\n"
            "  - model.norm = GroupNorm3: level 2 has 16 channels; expected a multiple of 3");
  config = case_a().config;
  config.bottleneck = 13;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { check(config); }),
            "error: model.bottleneck_factor = 13; expected at most the 12 frequencies of the deepest level");
  config = case_a().config;
  config.scales = 4;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { check(config); }),
            "error: model.bottleneck_factor = 4; expected at most the 3 frequencies of the deepest level");
  config = case_a().config;
  config.chunk = 128 * 30;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { check(config); }),
            "error: frames of a chunk, audio.chunk_size / audio.hop_length + 1, = 31; expected a multiple of first "
            "model.scale to the power of model.num_scales = 4");
}

TEST(Config, TakesTheWordsOfYamlFiles) {
  Config config;
  set_norm(config, "GroupNorm4");
  EXPECT_EQ(norm_name(config), "GroupNorm4");
  set_norm(config, "None");
  EXPECT_EQ(config.norm, Norm::none);
  set_activation(config, "elu0.7");
  EXPECT_EQ(activation_name(config), "elu0.7");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { set_norm(config, "GroupNormX"); }),
            "error: model.norm = GroupNormX; expected a number of groups as in GroupNorm4");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { set_activation(config, "silu"); }),
            "error: model.act = silu; expected gelu, relu or elu with a number, as in elu0.7");
}

}  // namespace
}  // namespace sonde::separate
