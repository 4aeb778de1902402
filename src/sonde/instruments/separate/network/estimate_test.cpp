// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/estimate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/separate/network/precision.h"
#include "sonde/instruments/separate/network/test_cases.h"

namespace sonde::separate {
namespace {

TEST(MethodsWithin, AreThoseOfTheRuleWhereThereIsRoom) {
  const Config config = case_e().config;
  const auto methods = methods_within(config, std::size_t{1} << 40);
  EXPECT_EQ(Plan::bytes_for(config, {.methods = methods}).sum(), Plan::bytes_for(config).sum());
}

TEST(MethodsWithin, SaveTheMemoryOfTransformedWeights) {
  const Config config = case_e().config;
  const std::size_t most = Plan::bytes_for(config).sum();
  const std::size_t least = Plan::bytes_for(config, {.method = ConvolutionMethod::direct}).sum();
  ASSERT_LT(least, most);
  const std::size_t between = (least + most) / 2;
  const std::size_t taken = Plan::bytes_for(config, {.methods = methods_within(config, between)}).sum();
  EXPECT_LE(taken, between);
  EXPECT_GT(taken, least);
  EXPECT_LE(Plan::bytes_for(config, {.methods = methods_within(config, 0)}).sum(), taken);
}

/// The same times for every 3 x 3 convolution.
std::vector<MethodTimes> times_of_all(const Config& config, const MethodTimes& times) {
  std::vector<MethodTimes> all;
  for (const Layer& layer : layer_list(config).layers) all.push_back(layer.kernel == 3 ? times : MethodTimes{});
  return all;
}

constexpr std::size_t plenty = std::size_t{1} << 40;

TEST(MethodsWithin, AreTheFasterOnesWhereTheyWereMeasured) {
  const Config config = case_e().config;
  const LayerList list = layer_list(config);
  const auto direct = methods_within(config, plenty, times_of_all(config, {.direct_s = 1, .winograd_s = 2}));
  const auto tiled = methods_within(config, plenty, times_of_all(config, {.direct_s = 2, .winograd_s = 1}));
  for (std::size_t i = 0; i < list.layers.size(); ++i) {
    if (list.layers[i].kernel != 3) continue;
    EXPECT_EQ(direct[i], ConvolutionMethod::direct) << i;
    EXPECT_EQ(tiled[i], ConvolutionMethod::winograd) << i;
  }
}

TEST(MethodsWithin, AreThoseOfTheRuleWhereBothAreAsFast) {
  const Config config = case_e().config;
  EXPECT_EQ(methods_within(config, plenty, times_of_all(config, {.direct_s = 1, .winograd_s = 1.04})),
            methods_within(config, plenty));
}

TEST(MethodsWithin, GiveUpTheSmallestGainFirst) {
  const Config config = case_e().config;
  const LayerList list = layer_list(config);
  auto times = times_of_all(config, {.direct_s = 2, .winograd_s = 1});
  std::size_t largest = 0;  // the layer with the most weights
  double most = 0;
  for (std::size_t i = 0; i < list.layers.size(); ++i) {
    const ValueSize& out = list.values[static_cast<std::size_t>(list.layers[i].output)];
    const double weights = multiplications(list, list.layers[i]) / static_cast<double>(out.rows * out.columns);
    if (list.layers[i].kernel == 3 && weights > most) largest = i, most = weights;
  }
  const std::size_t all = Plan::bytes_for(config, {.methods = methods_within(config, plenty, times)}).sum();
  EXPECT_EQ(methods_within(config, all - 1, times)[largest], ConvolutionMethod::direct);
  times[largest].direct_s = 1e6;
  EXPECT_EQ(methods_within(config, all - 1, times)[largest], ConvolutionMethod::winograd);
}

TEST(MeasureMethods, TimesEveryConvolutionByBoth) {
  const Config config = case_a().config;
  const LayerList list = layer_list(config);
  const auto times = measure_methods(config);
  ASSERT_EQ(times.size(), list.layers.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i].direct_s > 0 && times[i].winograd_s > 0, list.layers[i].kernel == 3) << i;
  }
  EXPECT_LT(tuning_bytes(config), Plan::bytes_for(config).sum());
}

TEST(ProbeSeconds, AreThoseOfAChunkOrSo) {
  Config config = case_a().config;
  config.chunk = 511 * config.hop;  // 512 frames, twice what is measured
  const auto methods = methods_within(config, std::size_t{1} << 40);
  EXPECT_GT(probe_seconds(config, methods), 0);
  EXPECT_LT(probe_bytes(config, methods), Plan::bytes_for(config, {.methods = methods}).sum());
}

TEST(Rounded, KeepsAsManyDigitsAsTheTypeHas) {
  const ReferenceCase of = case_a();
  const ParameterValues exact = formula_values(of.config, of.seed);
  for (const auto& [precision, epsilon] : {std::pair{Precision::f16, 0x1p-11}, {Precision::bf16, 0x1p-8}}) {
    const ParameterValues made = rounded(formula_values(of.config, of.seed), precision);
    const auto before = elements(exact, "first_conv.weight"), after = elements(made, "first_conv.weight");
    bool changed = false;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto x = static_cast<double>(before[i]);
      ASSERT_NEAR(static_cast<double>(after[i]), x, epsilon * std::abs(x) + 1e-7);  // f16 ends at 6e-8
      changed = changed || before[i] != after[i];
    }
    EXPECT_TRUE(changed);
  }
}

}  // namespace
}  // namespace sonde::separate
