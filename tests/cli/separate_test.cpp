// SPDX-License-Identifier: Apache-2.0
// Trained networks: what is said of them, and converted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/instrument_program.h"
#include "tests/support/data.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::Not;

class SeparateProgram : public testing::InstrumentProgram {
 protected:
  SeparateProgram() : InstrumentProgram("separate") {}
  /// The configuration of a drum network in its full size.
  std::string drums(const std::string& chunk, const std::string& instruments) const {
    std::ofstream(file("drums.yaml"))
        << "audio: {chunk_size: " << chunk << ", dim_f: 1024, hop_length: 512, n_fft: 2048}\n"
        << "model:\n  act: gelu\n  bottleneck_factor: 4\n  growth: 128\n  norm: InstanceNorm\n"
        << "  num_blocks_per_scale: 2\n  num_channels: 128\n  num_scales: 5\n  num_subbands: 4\n  scale:\n  - 2\n  - "
           "2\n"
        << "training:\n  instruments: [" << instruments << "]\n  x: !!python/tuple\n  - 1\n";
    return file("drums.yaml");
  }
};

TEST_F(SeparateProgram, InfoCountsParametersAndWorkOfTheDrumNetworks) {
  // Published: 109.4 million parameters; 1151e9 and 288e9 multiplications in chunks of 11.88 and 2.96 s.
  const std::string five = drums("523776", "kick, snare, toms, hh, cymbals");
  const Ended ended = command({"info", "--checkpoint", "formula:1", "--model", five});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("parameters  109.4 M"),
                               HasSubstr("1151 GMAC per chunk of 11.88 s, 96.9 GMAC per second")));
  const Value six =
      results({"info", "--checkpoint", "formula:1", "--model", drums("130560", "Kick, Snare, Toms, Hh, Ride, Crash")});
  EXPECT_EQ(six.find("parameters")->as_whole(), 109378624);
  EXPECT_NEAR(six.find("gmac_per_chunk")->as_real(), 288, 0.5);
  EXPECT_NEAR(six.find("chunk_s")->as_real(), 2.96, 0.005);
}

TEST_F(SeparateProgram, InfoFindsTheConfigurationBesideTheCheckpoint) {
  SONDE_NEED_DATA(data);
  const std::string checkpoint = (data / "separation/demo/tiny_drums.ckpt").string();
  const Value found = results({"info", "--checkpoint", checkpoint});
  EXPECT_EQ(found.find("configuration_because")->as_text(), "it has the name of the checkpoint");
  EXPECT_EQ(found.find("network")->find("stems")->items().size(), 4u);
  EXPECT_EQ(found.find("checkpoint")->find("tensors")->items().size(), 112u);
}

TEST_F(SeparateProgram, InfoListsWhatWasNotExecuted) {
  SONDE_NEED_DATA(data);
  const auto folder = data / "separation/reference";
  const Ended ended = command({"info", "--checkpoint", (folder / "checkpoints/hostile_extra_entry.ckpt").string(),
                               "--model", (folder / "b_batchnorm_relu_target/config.yaml").string()});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("contains code references (posix.getpid); nothing was executed"),
                               HasSubstr("not read    posix.getpid")));
}

TEST_F(SeparateProgram, ConvertedNetworksAreTheSame) {
  SONDE_NEED_DATA(data);
  const auto folder = data / "separation/reference/a_instancenorm_gelu";
  const std::string config = (folder / "config.yaml").string();
  ASSERT_EQ(command({"convert", (folder / "model.ckpt").string(), file("a.safetensors")}).status, 0);
  EXPECT_EQ(results({"info", "--checkpoint", file("a.safetensors"), "--model", config}).find("parameters")->as_whole(),
            129184);
  ASSERT_EQ(command({"convert", file("a.safetensors"), file("b.safetensors"), "--dtype", "bf16"}).status, 0);
  EXPECT_LT(std::filesystem::file_size(file("b.safetensors")),
            std::filesystem::file_size(file("a.safetensors")) * 6 / 10);
}

TEST_F(SeparateProgram, WrongInputEndsWithItsStatusAndWritesNothing) {
  SONDE_NEED_DATA(data);
  const auto reference = data / "separation/reference";
  const auto at = [&](const char* name) { return (reference / name).string(); };
  const std::string roformer = file("roformer.yaml"), model = at("a_instancenorm_gelu/model.ckpt");
  std::ofstream(roformer) << "model: {dim: 384, depth: 8, freqs_per_bands: [2]}\n";
  std::ofstream(file("net.onnx"), std::ios::binary) << "\x08\x07\x12\x07pytorch";
  const std::vector<Wrong> table = {
      {{"info", "--json"}, 2, "--checkpoint is missing"},
      {{"info", "--checkpoint", "formula:1"}, 2, "--checkpoint formula:1 needs a configuration"},
      {{"info", "--checkpoint", file("none.ckpt")}, 3, "no such file"},
      {{"info", "--checkpoint", at("checkpoints/bad_truncated.ckpt"), "--model",
        at("b_batchnorm_relu_target/config.yaml")},
       3,
       "not a valid ZIP archive"},
      {{"info", "--checkpoint", at("checkpoints/hostile_tensor_entry.ckpt"), "--model",
        at("b_batchnorm_relu_target/config.yaml")},
       3,
       "first_conv.weight: unsupported object posix.getpid"},
      {{"info", "--checkpoint", model, "--model", at("c_groupnorm_elu/config.yaml")},
       3,
       "but first_conv.weight of shape (16, 16, 1, 1) needs 16"},
      {{"info", "--checkpoint", model, "--model", roformer}, 8, "is the configuration of a BS-RoFormer network"},
      {{"info", "--checkpoint", file("net.onnx")}, 8, "is an ONNX file"},
      {{"convert", model, file("out.ckpt")}, 2, "expected a name that ends in .safetensors"},
      {{"convert", model, file("no/out.safetensors")}, 5, "out.safetensors"},
      {{"convert", at("checkpoints/bad_offsets.safetensors"), file("out.safetensors")}, 3, "data_offsets"},
      {{"convert", model, file("out.safetensors"), "--state-key", "ema"}, 2, "has no \"ema\""}};
  for (const Wrong& wrong : table) expect_refused(wrong);
}

TEST_F(SeparateProgram, AConvertedFileNeverReplacesItsInput) {
  SONDE_NEED_DATA(data);
  std::filesystem::copy_file(data / "separation/reference/a_instancenorm_gelu/model.safetensors",
                             file("a.safetensors"));
  expect_refused({{"convert", file("a.safetensors"), file("a.safetensors")}, 3, "input"});
}

}  // namespace
}  // namespace sonde
