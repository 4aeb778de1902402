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
