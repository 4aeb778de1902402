// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sonde/instruments/separate/network/test_cases.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string drums = R"(audio:
  chunk_size: 523776
  dim_f: 1024
  dim_t: 1024
  hop_length: 512
  n_fft: 2048
  num_channels: 2
  sample_rate: 44100
  min_mean_abs: 0.000
model:
  act: gelu
  bottleneck_factor: 4
  growth: 128
  norm: InstanceNorm
  num_blocks_per_scale: 2
  num_channels: 128
  num_scales: 5
  num_subbands: 4
  scale:
  - 2
  - 2
training:
  instruments: ['kick', 'snare', 'toms', 'hh', 'cymbals']
  lr: 9.0e-05
  target_instrument: null
  mixup_probs: !!python/tuple
  - 0.2
inference:
  batch_size: 2
  dim_t: 512
  num_overlap: 8
  normalize: true
  extension: flac
)";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
Config parsed(const std::string& from, const std::string& to) {
  return parse_config(changed(drums, from, to), "config.yaml");
}
std::string config_failure(ErrorKind kind, const std::string& from, const std::string& to) {
  return error_of(kind, [&] { static_cast<void>(parsed(from, to)); });
}

TEST(ConfigFile, GivesTheNumbersOfItsFields) {
  const Config config = parse_config(drums, "config.yaml");
  EXPECT_EQ(config.chunk, 523776);
  EXPECT_EQ(config.frames(), 1024);
  EXPECT_EQ(config.n_fft, 2048);
  EXPECT_EQ(config.hop, 512);
  EXPECT_EQ(config.subbands, 4);
  EXPECT_EQ(config.scale_frequency, 2);
  EXPECT_EQ(norm_name(config), "InstanceNorm");
  EXPECT_EQ(activation_name(config), "gelu");
  EXPECT_EQ(config.overlap, 8);
  EXPECT_EQ(config.batch, 2);
  EXPECT_TRUE(config.normalize);
  EXPECT_THAT(config.stems(), ElementsAre("kick", "snare", "toms", "hh", "cymbals"));
}

TEST(ConfigFile, PrefersTheChunkOfInference) {
  EXPECT_EQ(parsed("  extension: flac", "  chunk_size: 261632").chunk, 261632);
}

TEST(ConfigFile, MakesTheChunkFromFramesWhereNoneIsGiven) {
  EXPECT_EQ(parsed("  chunk_size: 523776\n", "").chunk, 512 * 1023);
}

TEST(ConfigFile, WithATargetHasOneStem) {
  EXPECT_THAT(parsed("target_instrument: null", "target_instrument: kick").stems(), ElementsAre("kick"));
}

TEST(ConfigFile, TakesAnAbsentNormAsNone) { EXPECT_EQ(norm_name(parsed("norm: InstanceNorm", "norm: null")), "none"); }

class ConfigOfReference : public ::testing::TestWithParam<ReferenceCase> {};

TEST_P(ConfigOfReference, IsThatOfTheNetwork) {
  SONDE_NEED_DATA(data);
  const Config config = read_config((data / "separation/reference" / GetParam().folder / "config.yaml").string());
  const Config& wanted = GetParam().config;
  const auto numbers = [](const Config& c) {
    return std::vector<Index>{c.sample_rate,
                              c.audio_channels,
                              c.n_fft,
                              c.hop,
                              c.dim_f,
                              c.chunk,
                              c.subbands,
                              c.scales,
                              c.blocks,
                              c.channels,
                              c.growth,
                              c.bottleneck,
                              c.scale_time,
                              c.scale_frequency,
                              c.overlap,
                              c.batch,
                              static_cast<Index>(c.stems().size())};
  };
  EXPECT_EQ(numbers(config), numbers(wanted));
  EXPECT_EQ(norm_name(config), norm_name(wanted));
  EXPECT_EQ(activation_name(config), activation_name(wanted));
}

INSTANTIATE_TEST_SUITE_P(, ConfigOfReference, ::testing::Values(case_a(), case_b(), case_c(), case_d(), case_e()),
                         [](const auto& each) { return each.param.folder; });

TEST(ConfigFault, MissingFieldsAreNamedTogether) {
  EXPECT_EQ(config_failure(ErrorKind::bad_file, "  hop_length: 512\n  n_fft: 2048\n", ""),
            "error: config.yaml: has no audio.n_fft and audio.hop_length\n"
            "hint: give the YAML file that belongs to the checkpoint");
}

TEST(ConfigFault, AWordInPlaceOfANumberIsNamedWithItsLine) {
  EXPECT_EQ(config_failure(ErrorKind::bad_file, "n_fft: 2048", "n_fft: large"),
            "error: config.yaml, line 6: audio.n_fft = large; expected a whole number");
}

TEST(ConfigFault, AScaleOfOneNumberIsNamed) {
  EXPECT_EQ(config_failure(ErrorKind::bad_file, "  - 2\n  - 2\n", "  - 2\n"),
            "error: config.yaml, line 20: model.scale = a list of 1; expected two whole numbers");
}

TEST(ConfigFault, InstrumentsThatAreNoListAreNamed) {
  EXPECT_EQ(config_failure(ErrorKind::bad_file, "['kick', 'snare', 'toms', 'hh', 'cymbals']", "kick"),
            "error: config.yaml, line 23: training.instruments = kick; expected a list of texts");
}

TEST(ConfigFault, ASwitchThatIsNoneIsNamed) {
  EXPECT_EQ(config_failure(ErrorKind::bad_file, "normalize: true", "normalize: perhaps"),
            "error: config.yaml, line 32: inference.normalize = perhaps; expected true or false");
}

TEST(ConfigFault, AnUnknownActivationIsNamed) {
  EXPECT_THAT(config_failure(ErrorKind::bad_file, "act: gelu", "act: swish"),
              HasSubstr("error: config.yaml: model.act = swish; expected"));
}

TEST(ConfigFault, NumbersThatMakeNoNetworkAreNamed) {
  EXPECT_THAT(config_failure(ErrorKind::bad_file, "chunk_size: 523776", "chunk_size: 523777"),
              HasSubstr("audio.chunk_size = 523777; expected a multiple of audio.hop_length = 512"));
}

TEST(ConfigFault, MoreBlocksThanAnyNetworkHasAreRefused) {
  EXPECT_EQ(config_failure(ErrorKind::bad_file, "num_blocks_per_scale: 2", "num_blocks_per_scale: 60000000"),
            "error: config.yaml: model.num_blocks_per_scale = 60000000; expected at most 100");
}

TEST(ConfigFault, ATextIsNoConfiguration) {
  EXPECT_EQ(error_of(ErrorKind::bad_file, [] { static_cast<void>(parse_config("hello", "config.yaml")); }),
            "error: config.yaml: holds no sections; expected audio, model, training and inference");
}

TEST(ConfigFault, OnnxIsNamed) {
  EXPECT_EQ(error_of(ErrorKind::not_supported, [] { static_cast<void>(read_config("net.onnx")); }),
            "error: net.onnx: is an ONNX file; expected the YAML file of a checkpoint");
}

struct Other {
  const char* name;
  std::string text, found;
};
class OtherNetwork : public ::testing::TestWithParam<Other> {};

TEST_P(OtherNetwork, IsRefusedByName) {
  EXPECT_EQ(error_of(ErrorKind::not_supported, [] { static_cast<void>(parse_config(GetParam().text, "config.yaml")); }),
            "error: config.yaml: is the configuration of a " + GetParam().found +
                " network; supported: MDX23C (TFC-TDF v3)\n"
                "hint: use the program that the network was made for, or an MDX23C checkpoint");
}

INSTANTIATE_TEST_SUITE_P(
    , OtherNetwork,
    ::testing::Values(Other{"BsRoformer", "model:\n  dim: 384\n  depth: 8\n  freqs_per_bands: !!python/tuple [2, 2]\n",
                            "BS-RoFormer"},
                      Other{"MelBand", "model:\n  dim: 384\n  depth: 6\n  num_bands: 60\n", "Mel-Band RoFormer"},
                      Other{"HtDemucs", "model: htdemucs\nhtdemucs:\n  depth: 4\n", "Hybrid Transformer Demucs"},
                      Other{"HDemucs", "model: hdemucs\nhdemucs:\n  depth: 6\n", "Demucs"},
                      Other{"Stht", "model:\n  stht: true\n", "STHT"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sonde::separate
