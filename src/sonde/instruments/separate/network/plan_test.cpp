// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/data.h"

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/network/reference.h"
#include "sonde/instruments/separate/network/test_arrays.h"
#include "sonde/instruments/separate/network/test_cases.h"

namespace sonde::separate {
namespace {

struct Way {
  ReferenceCase of;
  ConvolutionMethod method = ConvolutionMethod::direct;
};
void PrintTo(const Way& each, std::ostream* out) { *out << each.of.folder; }
std::vector<Way> ways() {
  std::vector<Way> all;
  for (const ReferenceCase& each : small_cases()) {
    for (const auto method : {ConvolutionMethod::direct, ConvolutionMethod::winograd}) all.push_back({each, method});
  }
  return all;
}

std::vector<float> noise(Index count) {
  std::vector<float> samples(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto t = static_cast<double>(i);
    samples[i] = static_cast<float>(0.3 * std::sin(0.05 * t + 1e-5 * t * t) + 0.1 * std::cos(2.1 * t));
  }
  return samples;
}

std::vector<float> separated(Plan& plan, const Config& config, const std::vector<float>& samples) {
  const auto stems = static_cast<Index>(config.stems().size());
  std::vector<float> out(static_cast<std::size_t>(stems) * samples.size());
  plan.run({samples.data(), config.audio_channels, config.chunk},
           {out.data(), stems, config.audio_channels, config.chunk});
  return out;
}

class PlanOf : public ::testing::TestWithParam<Way> {};

TEST_P(PlanOf, GivesTheOutputOfPyTorch) {
  SONDE_NEED_DATA(data);
  const auto& [of, method] = GetParam();
  const auto folder = data / "separation/reference" / of.folder;
  const auto input = doubles(read_npy((folder / "input.npy").string()));
  const auto output = doubles(read_npy((folder / "output.npy").string()));
  Plan plan = Plan::prepare(of.config, formula_values(of.config, of.seed), {.method = method});
  const auto chunk = static_cast<std::size_t>(of.config.audio_channels * of.config.chunk);
  const std::size_t stems = of.config.stems().size() * chunk;
  for (std::size_t item = 0; item * chunk < input.size(); ++item) {
    const std::vector<float> samples(input.begin() + static_cast<std::ptrdiff_t>(item * chunk),
                                     input.begin() + static_cast<std::ptrdiff_t>((item + 1) * chunk));
    // float32 against float32: 140 layers' roundings; Winograd's transforms lose another digit.
    EXPECT_LT(relative_difference(doubles(separated(plan, of.config, samples)),
                                  std::span(output).subspan(item * stems, stems)),
              1e-5);
  }
}

TEST_P(PlanOf, HasEveryValueOfTheReferenceNetwork) {
  const auto& [of, method] = GetParam();
  const ParameterValues values = formula_values(of.config, of.seed);
  const auto samples = noise(of.config.audio_channels * of.config.chunk);
  const auto exact = doubles(samples);
  ReferenceNetwork reference(of.config, values);
  (void)reference.run({exact.data(), of.config.audio_channels, of.config.chunk});
  Plan plan = Plan::prepare_to_look(of.config, values, {.method = method});
  (void)separated(plan, of.config, samples);

  const LayerList& list = reference.layers();
  std::vector<bool> replaced(list.values.size(), false);  // by the sum that took its place
  for (const Layer& layer : list.layers) {
    if (layer.add >= 0) replaced[static_cast<std::size_t>(layer.add)] = true;
  }
  const double tolerance =
      method == ConvolutionMethod::winograd ? 2e-5 : 5e-6;  // float32; the latter by its transforms
  for (std::size_t i = 0; i < list.values.size(); ++i) {
    if (replaced[i]) continue;
    SCOPED_TRACE(i == 0 ? "input" : list.layers[i - 1].stage + " " + list.layers[i - 1].weight);
    const auto view = plan.value(static_cast<int>(i));
    const ValueSize& size = list.values[i];
    std::vector<double> got;
    for (Index c = 0; c < size.channels; ++c) {
      for (Index r = 0; r < size.rows; ++r) {
        for (Index x = 0; x < size.columns; ++x) got.push_back(static_cast<double>(view(r, x, c)));
      }
    }
    EXPECT_LT(relative_difference(got, reference.value(static_cast<int>(i))), tolerance);
  }
}

TEST_P(PlanOf, GivesTheSameBitsInSharedMemoryAndForEveryNumberOfThreads) {
  const auto& [of, method] = GetParam();
  const ParameterValues values = formula_values(of.config, of.seed);
  const auto samples = noise(of.config.audio_channels * of.config.chunk);
  const int before = thread_count();
  set_thread_count(1);
  Plan looked = Plan::prepare_to_look(of.config, values, {.method = method});
  const auto expected = separated(looked, of.config, samples);
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(threads);
    set_thread_count(threads);
    Plan plan = Plan::prepare(of.config, values, {.method = method});
    EXPECT_EQ(separated(plan, of.config, samples), expected);
    EXPECT_EQ(separated(plan, of.config, samples), expected);  // nothing is left of the run before
  }
  set_thread_count(before);
}

TEST_P(PlanOf, HoldsWhatWasSaidBefore) {
  const auto& [of, method] = GetParam();
  const Plan plan = Plan::prepare(of.config, formula_values(of.config, of.seed), {.method = method});
  const Plan::Bytes said = Plan::bytes_for(of.config, {.method = method});
  const auto held = static_cast<double>(plan.bytes().sum());
  EXPECT_NEAR(static_cast<double>(said.sum()), held, 0.02 * held + 65536);  // the Fourier plan's own, pages of the pool
}

INSTANTIATE_TEST_SUITE_P(Case, PlanOf, ::testing::ValuesIn(ways()), [](const auto& each) {
  return each.param.of.folder.substr(0, 1) + (each.param.method == ConvolutionMethod::direct ? "_direct" : "_winograd");
});

}  // namespace
}  // namespace sonde::separate
