// SPDX-License-Identifier: Apache-2.0
// The network by its kernels, against PyTorch's arrays and against the network in float64.
#include "sonde/instruments/separate/network/device_plan.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "tests/support/data.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

#include "sonde/instruments/separate/network/reference.h"
#include "sonde/instruments/separate/network/test_arrays.h"
#include "sonde/instruments/separate/network/test_cases.h"

namespace sonde::separate {
namespace {

/// The first item of a case's input, and what PyTorch made of it.
struct FirstItem {
  std::vector<float> samples;
  std::vector<double> stems;
};
FirstItem first_item(const std::filesystem::path& folder, const Config& config) {
  const auto input = doubles(read_npy((folder / "input.npy").string()));
  const auto output = doubles(read_npy((folder / "output.npy").string()));
  const Index chunk = config.audio_channels * config.chunk;
  return {.samples = {input.begin(), input.begin() + chunk},
          .stems = {output.begin(), output.begin() + chunk * static_cast<Index>(config.stems().size())}};
}

std::vector<float> separated_by(Network& network, const Config& config, const std::vector<float>& samples) {
  const auto stems = static_cast<Index>(config.stems().size());
  std::vector<float> out(static_cast<std::size_t>(stems) * samples.size());
  network.run({samples.data(), config.audio_channels, config.chunk},
              {out.data(), stems, config.audio_channels, config.chunk});
  return out;
}

/// In groups of some rows, so that every layer has a first, a last and one between.
DevicePlanOptions in_groups(ConvolutionMethod method) { return {.method = method, .scratch = 40000}; }

class DevicePlanOnEach : public sonde::testing::EachDevice {
 protected:
  void expect_output(const ReferenceCase& of) {
    SONDE_NEED_DATA(data);
    const FirstItem item = first_item(data / "separation/reference" / of.folder, of.config);
    const ParameterValues values = formula_values(of.config, of.seed);
    for (const auto method : {ConvolutionMethod::direct, ConvolutionMethod::winograd}) {
      SCOPED_TRACE(method == ConvolutionMethod::direct ? "direct" : "winograd");
      DevicePlan plan = DevicePlan::prepare_to_look(device(), of.config, values, in_groups(method));
      // float32 against float32, as for Plan.
      EXPECT_LT(relative_difference(doubles(separated_by(plan, of.config, item.samples)), item.stems), 1e-5);
    }
  }
};
/// What the CPU does not have.
class DevicePlanOnEachGpu : public DevicePlanOnEach {};

TEST_P(DevicePlanOnEach, GivesPyTorchsOutputWithInstanceNormAndGelu) { expect_output(case_a()); }
TEST_P(DevicePlanOnEach, GivesPyTorchsOutputWithBatchNormAndRelu) { expect_output(case_b()); }
TEST_P(DevicePlanOnEach, GivesPyTorchsOutputWithGroupNormAndElu) { expect_output(case_c()); }
TEST_P(DevicePlanOnEach, GivesPyTorchsOutputWithoutANorm) { expect_output(case_d()); }

TEST_P(DevicePlanOnEach, HasEveryValueOfTheReferenceNetwork) {
  const ReferenceCase of = case_a();
  const ParameterValues values = formula_values(of.config, of.seed);
  std::vector<float> samples(static_cast<std::size_t>(of.config.audio_channels * of.config.chunk));
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<float>(std::sin(1e-4 * static_cast<double>(i * i)));
  const auto exact = doubles(samples);
  ReferenceNetwork reference(of.config, values);
  (void)reference.run({exact.data(), of.config.audio_channels, of.config.chunk});
  DevicePlan plan = DevicePlan::prepare_to_look(device(), of.config, values, in_groups(ConvolutionMethod::winograd));
  (void)separated_by(plan, of.config, samples);

  const LayerList& list = reference.layers();
  std::vector<bool> replaced(list.values.size(), false);  // by the sum that took its place
  for (const Layer& layer : list.layers) {
    if (layer.add >= 0) replaced[static_cast<std::size_t>(layer.add)] = true;
  }
  for (std::size_t i = 0; i < list.values.size(); ++i) {
    if (replaced[i]) continue;
    SCOPED_TRACE(i == 0 ? "input" : list.layers[i - 1].stage + " " + list.layers[i - 1].weight);
    const ValueSize& size = list.values[i];
    const auto pixels = doubles(plan.value(static_cast<int>(i)));  // (rows, columns, channels)
    std::vector<double> got(pixels.size());
    for (Index p = 0; p < size.rows * size.columns; ++p) {
      for (Index c = 0; c < size.channels; ++c) {
        got[static_cast<std::size_t>(c * size.rows * size.columns + p)] =
            pixels[static_cast<std::size_t>(p * size.channels + c)];
      }
    }
    EXPECT_LT(relative_difference(got, reference.value(static_cast<int>(i))), 2e-5);  // Winograd's transforms
  }
}

TEST_P(DevicePlanOnEach, ReplaysTheSameBitsAndHoldsWhatWasSaidBefore) {
  const ReferenceCase of = case_c();
  const ParameterValues values = formula_values(of.config, of.seed);
  std::vector<float> samples(static_cast<std::size_t>(of.config.audio_channels * of.config.chunk), 0.25F);
  samples[7] = -1;
  DevicePlan looked = DevicePlan::prepare_to_look(device(), of.config, values);
  const auto expected = separated_by(looked, of.config, samples);
  DevicePlan plan = DevicePlan::prepare(device(), of.config, values);  // values share memory, a graph is replayed
  EXPECT_EQ(separated_by(plan, of.config, samples), expected);
  EXPECT_EQ(separated_by(plan, of.config, samples), expected);  // nothing is left of the run before
  ASSERT_EQ(plan.times().size(), layer_list(of.config).layers.size() + 2);
  EXPECT_EQ(plan.times().front().calls, 2);

  const DevicePlan::Bytes said = DevicePlan::bytes_for(device(), of.config), held = plan.bytes();
  EXPECT_EQ(said.weights, held.weights);
  EXPECT_NEAR(static_cast<double>(said.values), static_cast<double>(held.values), 65536);  // pages of the pool
  // The stand-in's two Fourier plans want eight times what is transformed.
  EXPECT_LT(static_cast<double>(held.spectrum), 3 * static_cast<double>(said.spectrum) + 65536);
}

TEST_P(DevicePlanOnEachGpu, InTf32LosesWhatFactorsLose) {
  SONDE_NEED_DATA(data);
  const ReferenceCase of = case_b();
  const FirstItem item = first_item(data / "separation/reference" / of.folder, of.config);
  DevicePlan plan = DevicePlan::prepare_to_look(device(), of.config, formula_values(of.config, of.seed),
                                                {.products = dense::FloatProducts::tf32});
  const double difference = relative_difference(doubles(separated_by(plan, of.config, item.samples)), item.stems);
  EXPECT_GT(difference, 1e-5);
  EXPECT_LT(difference, 3e-2);  // as bf16 autocast at the worst, which keeps three bits less: 30 dB
}

INSTANTIATE_EACH_DEVICE(DevicePlanOnEach);
INSTANTIATE_EACH_GPU(DevicePlanOnEachGpu);

TEST(DevicePlanBytes, RefuseAChunkBeyondTheIndicesOfKernels) {
  Config config = case_e().config;
  config.chunk = config.hop * ((Index{1} << 20) - 1);
  EXPECT_EQ(
      sonde::testing::error_of(ErrorKind::not_supported, [&] { (void)DevicePlan::bytes_for(Device::cpu(), config); }),
      "error: audio.chunk_size = 536870400: 34359738368 numbers between two layers; a GPU takes fewer than 2^32");
}

}  // namespace
}  // namespace sonde::separate
