// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sonde/instruments/separate/network/test_cases.h"
#include "sonde/instruments/separate/weights/structure.h"
#include "sonde/instruments/separate/weights/test_checkpoints.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A small network as a YAML file.
std::string yaml_of(const Config& config) {
  std::string names;
  for (const std::string& each : config.instruments) names += (names.empty() ? "" : ", ") + each;
  const auto field = [](const char* key, Index value) {
    return std::string("  ") + key + ": " + std::to_string(value) + "\n";
  };
  return "audio:\n" + field("chunk_size", config.chunk) + field("dim_f", config.dim_f) +
         field("hop_length", config.hop) + field("n_fft", config.n_fft) + "model:\n  act: " + activation_name(config) +
         "\n  norm: " + norm_name(config) + "\n" + field("bottleneck_factor", config.bottleneck) +
         field("growth", config.growth) + field("num_blocks_per_scale", config.blocks) +
         field("num_channels", config.channels) + field("num_scales", config.scales) +
         field("num_subbands", config.subbands) + "  scale: [" + std::to_string(config.scale_time) + ", " +
         std::to_string(config.scale_frequency) + "]\ntraining:\n  instruments: [" + names +
         "]\n  target_instrument: " + (config.target.empty() ? "null" : config.target) + "\n";
}

class ModelOfFolder : public ::testing::Test {
 protected:
  ModelOfFolder() { write_torch(checkpoint_, formula_values(config_, 3)); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_.file(name)) << text; }
  void write(const std::string& name, const Config& config) { write(name, yaml_of(config)); }
  [[nodiscard]] Model open(const std::string& model = "") const { return open_model({checkpoint_, model}); }
  [[nodiscard]] std::string failure(const std::string& model = "", ErrorKind kind = ErrorKind::bad_file) const {
    return error_of(kind, [&] { static_cast<void>(open(model)); });
  }

  TemporaryFolder folder_;
  std::string checkpoint_ = folder_.file("drums.ckpt");
  Config config_ = case_a().config;
  Config other_ = case_c().config;
};

TEST_F(ModelOfFolder, TakesTheYamlOfItsOwnNameFirst) {
  for (const char* name : {"drums.yaml", "config_mdx23c.yaml", "config.yaml", "zz.yaml"}) write(name, config_);
  EXPECT_EQ(open().configuration.value, folder_.file("drums.yaml"));
  std::filesystem::rename(folder_.file("drums.yaml"), folder_.file("drums.yml"));
  EXPECT_EQ(open().configuration.value, folder_.file("drums.yml"));
  EXPECT_EQ(open().configuration.because, "it has the name of the checkpoint");
  std::filesystem::remove(folder_.file("drums.yml"));
  EXPECT_EQ(open().configuration.value, folder_.file("config_mdx23c.yaml"));
  std::filesystem::remove(folder_.file("config_mdx23c.yaml"));
  EXPECT_EQ(open().configuration.value, folder_.file("config.yaml"));
  EXPECT_EQ(open().configuration.because, "it is beside the checkpoint");
}

TEST_F(ModelOfFolder, TakesTheOnlyYamlThatFits) {
  write("other.yaml", other_);
  write("broken.yaml", "a: [");
  write("roformer.yaml", "model:\n  dim: 1\n");
  write("mine.yaml", config_);
  const Model model = open();
  EXPECT_EQ(model.configuration.value, folder_.file("mine.yaml"));
  EXPECT_EQ(model.configuration.because, "it is the only YAML file beside the checkpoint whose numbers fit");
  EXPECT_THAT(model.config.stems(), ElementsAre("kick", "snare", "hh"));
}

TEST_F(ModelOfFolder, WithTwoYamlsThatFitAsks) {
  write("one.yaml", config_);
  write("two.yaml", config_);
  EXPECT_EQ(failure(), "error: " + checkpoint_ +
                           ": 2 YAML files beside it fit its tensors: " + folder_.file("one.yaml") + " and " +
                           folder_.file("two.yaml") + "\nhint: give the one that belongs to it by --model");
}

TEST_F(ModelOfFolder, WithoutAnyThatFitsSaysWhatIsMissing) {
  write("other.yaml", other_);
  EXPECT_EQ(failure(), "error: " + checkpoint_ +
                           ": no YAML file beside it describes it; its tensors do not say audio.n_fft, "
                           "audio.hop_length, audio.chunk_size, model.act, model.norm and training.instruments\n"
                           "hint: give the YAML file of the checkpoint by --model");
}

TEST_F(ModelOfFolder, IsOpenedFromTheFolderItIsIn) {
  write("drums.yaml", config_);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  EXPECT_EQ(open_model({"drums.ckpt"}).configuration.because, "it has the name of the checkpoint");
  std::filesystem::current_path(before);
}

TEST_F(ModelOfFolder, TakesTheYamlThatIsGiven) {
  write("drums.yaml", other_);
  write("mine.yaml", config_);
  EXPECT_EQ(open(folder_.file("mine.yaml")).configuration.because, "it was given");
}

TEST_F(ModelOfFolder, HoldsItsValues) {
  write("drums.yaml", config_);
  const ParameterValues values = open().values();
  EXPECT_EQ(values.size(), parameters(config_, layer_list(config_)).size());
}

struct Wrong {
  const char* name;
  void (*change)(Config&);
  std::string text;
};
class WrongConfig : public ModelOfFolder, public ::testing::WithParamInterface<Wrong> {};

TEST_P(WrongConfig, IsRefusedWithFieldAndTensor) {
  GetParam().change(config_);
  write("drums.yaml", config_);
  EXPECT_THAT(failure(), HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    , WrongConfig,
    ::testing::Values(
        Wrong{"Stems",
              [](Config& c) {
                c.instruments = {"kick", "snare", "cymbals", "toms"};
              },
              "training.instruments has 4 names, but final_conv.2.weight of shape (48, 16, 1, 1) has outputs for 3 "
              "stems of 16 channels\nhint: give the YAML file of this checkpoint by --model"},
        Wrong{"Target", [](Config& c) { c.target = "kick"; },
              "training.target_instrument makes one stem, but final_conv.2.weight"},
        Wrong{"Channels", [](Config& c) { c.channels = 8; },
              "model.num_channels = 8, but first_conv.weight of shape (16, 16, 1, 1) needs 16"},
        Wrong{"Growth", [](Config& c) { c.growth = 4; },
              "model.growth = 4, but encoder_blocks.0.downscale.conv.2.weight of shape (24, 16, 2, 2) needs 8"},
        Wrong{"Scales", [](Config& c) { c.scales = 1; },
              "model.num_scales = 1, but the checkpoint has 2 of encoder_blocks.*"},
        Wrong{"Blocks", [](Config& c) { c.blocks = 1; },
              "model.num_blocks_per_scale = 1, but the checkpoint has 2 of bottleneck_block.blocks.*"},
        Wrong{"Scale", [](Config& c) { c.scale_time = 1; },
              "model.scale, first, = 1, but encoder_blocks.0.downscale.conv.2.weight of shape (24, 16, 2, 2) needs 2"},
        Wrong{"Subbands", [](Config& c) { c.subbands = 2; },
              "audio.num_channels x model.num_subbands = 4, but first_conv.weight of shape (16, 16, 1, 1) needs 8"},
        Wrong{
            "Frequencies", [](Config& c) { c.dim_f = 128; },
            "audio.dim_f / model.num_subbands = 32, which 2 scales make 8, but bottleneck_block.blocks.0.tdf.2.weight "
            "has shape (3, 12)"},
        Wrong{"Bottleneck", [](Config& c) { c.bottleneck = 2; },
              "model.bottleneck_factor = 2, but bottleneck_block.blocks.0.tdf.2.weight has shape (3, 12)"},
        Wrong{"BatchNorm", [](Config& c) { c.norm = Norm::batch; },
              "model.norm = BatchNorm, but the checkpoint has bottleneck_block.blocks.0.tfc1.0.weight without running "
              "statistics, those of InstanceNorm or GroupNorm"},
        Wrong{"NoNorm", [](Config& c) { c.norm = Norm::none; }, "model.norm = none, but the checkpoint has"}),
    [](const auto& each) { return each.param.name; });

TEST_F(ModelOfFolder, MayHaveAnotherNormThatShapesDoNotTell) {
  config_.norm = Norm::group;
  config_.groups = 8;
  write("drums.yaml", config_);
  EXPECT_EQ(norm_name(open().config), "GroupNorm8");
}

/// The parameters of a network as a checkpoint that has only shapes: no values are behind them.
Checkpoint shapes_of(const Config& config) {
  Checkpoint checkpoint{.path = "/nowhere/drums.ckpt"};
  for (const Parameter& each : parameters(config, layer_list(config)))
    checkpoint.tensors.emplace(each.name, StoredTensor{.shape = each.shape});
  return checkpoint;
}

TEST(KnownNetworks, AreToldFromEachOtherByTheirShapes) {
  for (const KnownConfig& one : known_configs()) {
    Config config = one.config;
    if (config.instruments.empty()) config.instruments.resize(one.stems, "x");
    check(config);
    const Checkpoint checkpoint = shapes_of(config);
    int same = 0;
    for (const KnownConfig& other : known_configs()) {
      Config tried = other.config;
      if (tried.instruments.empty()) tried.instruments.resize(other.stems, "x");
      same += contradictions(tried, checkpoint).empty() ? 1 : 0;
    }
    EXPECT_EQ(same, 1) << one.name;
  }
}

TEST(KnownNetworks, HaveTheSizesThatWerePublished) {
  // Parameters in millions and multiplications in 1e9 per chunk, of the table of the networks' releases.
  const double wanted[][2] = {{109.4, 1151}, {109.4, 288}, {112.0, 1218}, {45.8, 418}, {27.5, 73.5}};
  std::size_t i = 0;
  for (const KnownConfig& each : known_configs()) {
    Config config = each.config;
    if (config.instruments.empty()) config.instruments.resize(each.stems, "x");
    const LayerList list = layer_list(config);
    double count = 0;
    for (const Parameter& parameter : parameters(config, list)) count += static_cast<double>(parameter.shape.count());
    EXPECT_NEAR(count / 1e6, wanted[i][0], 0.05) << each.name;
    EXPECT_NEAR(multiplications(list) / 1e9 / wanted[i][1], 1, 0.005) << each.name;  // three digits were published
    ++i;
  }
}

TEST(FourStemYaml, IsRefusedForTheSixStemCheckpoint) {
  Config four = known_configs()[1].config;
  four.instruments = {"kick", "snare", "cymbals", "toms"};
  EXPECT_THAT(contradictions(four, shapes_of(known_configs()[1].config)),
              ElementsAre("training.instruments has 4 names, but final_conv.2.weight of shape (96, 128, 1, 1) has "
                          "outputs for 6 stems of 16 channels"));
}

struct Foreign {
  const char* name;
  std::vector<std::string> tensors;
  std::string found;
};
class ForeignCheckpoint : public ::testing::TestWithParam<Foreign> {};

TEST_P(ForeignCheckpoint, IsRefusedByName) {
  Checkpoint checkpoint{.path = "model.ckpt"};
  for (const std::string& each : GetParam().tensors) checkpoint.tensors.emplace(each, StoredTensor{});
  EXPECT_EQ(error_of(ErrorKind::not_supported, [&] { require_tfc_tdf(checkpoint); }),
            "error: model.ckpt: is a checkpoint of " + GetParam().found +
                "; supported: MDX23C (TFC-TDF v3)\n"
                "hint: use the program that the network was made for, or an MDX23C checkpoint");
}

INSTANTIATE_TEST_SUITE_P(
    , ForeignCheckpoint,
    ::testing::Values(Foreign{"Roformer", {"band_split.to_features.0.0.gamma", "mask_estimators.0.x"}, "RoFormer"},
                      Foreign{"Demucs", {"encoder.0.conv.weight", "tencoder.0.conv.weight"}, "Demucs"},
                      Foreign{"ConvTdf", {"first_conv.0.weight", "encoding_blocks.0.x"}, "ConvTDFNet (MDX-Net)"}),
    [](const auto& each) { return each.param.name; });

TEST(ForeignCheckpoints, OfNoKnownNetworkAreNamed) {
  Checkpoint checkpoint{.path = "model.ckpt"};
  checkpoint.tensors.emplace("fc.weight", StoredTensor{});
  EXPECT_EQ(error_of(ErrorKind::bad_file, [&] { require_tfc_tdf(checkpoint); }),
            "error: model.ckpt: its 1 tensors are not those of a TFC-TDF v3 network (MDX23C): first_conv.weight is "
            "missing");
}

TEST(DemoModel, IsFoundWithItsYaml) {
  SONDE_NEED_DATA(data);
  const Model model = open_model({(data / "separation/demo/tiny_drums.ckpt").string()});
  EXPECT_THAT(model.config.stems(), ElementsAre("kick", "snare", "hihat", "other"));
  double count = 0;
  for (const auto& [name, values] : model.values()) count += static_cast<double>(values.count());
  EXPECT_NEAR(count / 1e6, 0.52, 0.005);  // README of the model
}

TEST(FormulaModel, NeedsAConfigurationAndASeed) {
  EXPECT_EQ(error_of(ErrorKind::usage, [] { static_cast<void>(open_model({"formula:5"})); }),
            "error: --checkpoint formula:5 needs a configuration\n"
            "hint: give the YAML file of a network by --model");
  EXPECT_EQ(error_of(ErrorKind::usage,
                     [] {
                       static_cast<void>(open_model({"formula:x", "a.yaml"}));
                     }),
            "error: --checkpoint formula:x: expected formula:SEED, a whole number");
}

TEST(FormulaModel, HasTheValuesOfTheFormula) {
  SONDE_NEED_DATA(data);
  const auto folder = data / "separation/reference/d_nonorm_gelu";
  const Model made = open_model({"formula:4", (folder / "config.yaml").string()});
  const Model read = open_model({(folder / "model.ckpt").string()});
  EXPECT_EQ(read.configuration.because, "it is beside the checkpoint");
  const ParameterValues ours = made.values(), theirs = read.values();
  ASSERT_EQ(ours.size(), theirs.size());
  for (const auto& [name, values] : theirs)
    EXPECT_EQ(std::memcmp(values.data(), ours.at(name).data(), static_cast<std::size_t>(values.count()) * 4), 0)
        << name;
}

}  // namespace
}  // namespace sonde::separate
