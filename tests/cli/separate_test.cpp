// SPDX-License-Identifier: Apache-2.0
// Trained networks: what is said of them, and converted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/browser.h"
#include "tests/cli/instrument_program.h"
#include "tests/support/data.h"
#include "tests/support/python.h"

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
      {{"convert", model, file("out.safetensors"), "--state-key", "ema"}, 2, "has no \"ema\""},
      {{"ensemble", "a", "-o", file("out")}, 2, "1 folder; expected two or more"},
      {{"ensemble", "a", "b", "-o", file("out"), "--weights", "1"},
       2,
       "expected a number above 0 for each of 2 folders"},
      {{"ensemble", "a", "b", "-o", file("out"), "--weights", "1,2", "--blend", "max"},
       2,
       "min and max take samples as they are"},
      {{"plot", at("a_instancenorm_gelu/info.json"), "-o", file("p.svg")}, 3, "has no quality of stems"}};
  for (const Wrong& wrong : table) expect_refused(wrong);
}

TEST_F(SeparateProgram, AConvertedFileNeverReplacesItsInput) {
  SONDE_NEED_DATA(data);
  std::filesystem::copy_file(data / "separation/reference/a_instancenorm_gelu/model.safetensors",
                             file("a.safetensors"));
  expect_refused({{"convert", file("a.safetensors"), file("a.safetensors")}, 3, "input"});
}

TEST_F(SeparateProgram, MidiIsWrittenAndScored) {
  SONDE_NEED_DATA(data);
  const auto piece = data / "separation/demo/synth0";
  const Value found = results({"midi", piece.string(), "-o", file("drums.mid"), "--events", file("drums.json"),
                               "--plot", file("drums.svg"), "--reference", (piece / "events.csv").string()});
  EXPECT_GE(found.find("score")->find("pooled")->find("merged_50_ms")->find("f_measure")->as_real(), 0.95);
  EXPECT_EQ(found.find("stems")->items().size(), 3u);  // of `other` nothing is known
  EXPECT_TRUE(std::filesystem::exists(file("drums.svg.chart.json")) ||
              std::filesystem::exists(file("drums.chart.json")));
  // What was written is a reference itself, which agrees with what was found.
  const Value again = results({"midi", piece.string(), "--reference", file("drums.mid")});
  EXPECT_EQ(again.find("score")->find("pooled")->find("raw_25_ms")->find("f_measure")->as_real(), 1);
}

TEST_F(SeparateProgram, ASeparationWritesMidiBesideItsStems) {
  SONDE_NEED_DATA(data);
  const auto demo = data / "separation/demo";
  const Value found = results({"run", (demo / "synth0/mixture.flac").string(), "--checkpoint",
                               (demo / "tiny_drums.ckpt").string(), "-o", file("out"), "--seconds", "2", "--midi"});
  EXPECT_EQ(found.find("drums")->items().size(), 3u);
  EXPECT_TRUE(std::filesystem::exists(file("out/mixture/drums.mid")));
  // The same as reading what was written.
  EXPECT_EQ(results({"midi", file("out/mixture"), "-o", file("again.mid")}).find("stems")->items().size(), 3u);
  EXPECT_EQ(testing::read_bytes(file("again.mid")).size(), testing::read_bytes(file("out/mixture/drums.mid")).size());
  expect_refused({{"run", (demo / "synth0/mixture.flac").string(), "--checkpoint", (demo / "tiny_drums.ckpt").string(),
                   "-o", file("none"), "--stems", "other", "--midi"},
                  3,
                  "--midi: none of the stems is a drum: other"});
}

TEST_F(SeparateProgram, MidiRefusesWithItsStatusAndWritesNothing) {
  SONDE_NEED_DATA(data);
  const std::string piece = (data / "separation/demo/synth0").string(), other = piece + "/other.flac";
  std::ofstream(file("a.mid")) << "RIFF";
  std::ofstream(file("kick.wav")) << "RIFF";
  const std::string mid = file("out.mid");
  const std::vector<Wrong> table = {
      {{"midi", piece}, 2, "--output is missing"},
      {{"midi", piece, "-o", file("out.wav")}, 2, ".mid"},
      {{"midi", piece, "-o", mid, "--events", file("e.txt")}, 2, ".csv"},
      {{"midi", piece, "-o", file("no/out.mid")}, 5, "out.mid"},
      {{"midi", other, "-o", mid}, 3, "\"other\" is not the name of one drum"},
      {{"midi", file("no.wav"), "-o", mid}, 3, "is not the name of one drum"},
      {{"midi", file("snare.wav"), "-o", mid}, 3, "no such file"},
      {{"midi", file("kick.wav"), "-o", mid}, 3, "kick.wav"},
      {{"midi", piece, "kick=" + other, "-o", mid}, 3, "both are the stem kick"},
      {{"midi", piece, "-o", mid, "--gap", "kik=40"}, 2, "--gap = kik=40: unknown stem \"kik\"; did you mean \"kick\""},
      {{"midi", piece, "-o", mid, "--gap", "kick=0"}, 2, "--gap = kick=0: expected numbers from 1 to 10000"},
      {{"midi", piece, "-o", mid, "--detection", "loud"}, 2, "\"loud\"; expected flux, energy or peak"},
      {{"midi", piece, "-o", mid, "--notes", "kick=200"}, 2, "expected numbers from 0 to 127"},
      {{"midi", piece, "-o", mid, "--notes", "gong=60"}, 2, "unknown hit \"gong\"; expected kick=36"},
      {{"midi", piece, "-o", mid, "--softest", "100", "--loudest", "90"},
       2,
       "--softest = 100; expected at most --loudest = 90"},
      {{"midi", piece, "-o", mid, "--tempo", "fast"}, 2, "--tempo = fast"},
      {{"midi", piece, "-o", mid, "--quantise", "1/5"}, 2, "--quantise: \"1/5\" is not a grid"},
      {{"midi", piece, "-o", mid, "--reference", file("a.mid")}, 3, "is not a MIDI file"}};
  for (const Wrong& wrong : table) expect_refused(wrong);
}

TEST_F(SeparateProgram, MidiFindsTheTempoOfAPerformance) {
  SONDE_NEED_DATA(data);
  const Value found = results({"midi", (data / "separation/demo/groove").string(), "-o", file("drums.mid"), "--tempo",
                               "auto", "--quantise", "1/16"});
  EXPECT_NEAR(found.find("tempo")->as_real(), 138, 1.38);
}

TEST_F(SeparateProgram, ADryRunOfMidiNamesTheStems) {
  SONDE_NEED_DATA(data);
  const Ended ended = command({"midi", (data / "separation/demo/synth0").string(), "-o", file("out.mid"), "--dry-run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("kick.flac: FLAC, 16 bit, 10.00 s, as kick"), Not(HasSubstr("events in"))));
  EXPECT_TRUE(names().empty());
}

/// A small drum network, what it separates, and four seconds of it in 36 chunks.
struct Drums {
  std::string checkpoint, mixture;
  explicit Drums(const std::filesystem::path& data)
      : checkpoint((data / "separation/demo/tiny_drums.ckpt").string()),
        mixture((data / "separation/demo/synth0/mixture.flac").string()) {}
  [[nodiscard]] std::vector<std::string> run(const std::string& output) const {
    return {"run", mixture, "--checkpoint", checkpoint, "-o", output, "--seconds", "4", "--overlap", "8"};
  }
};

TEST_F(SeparateProgram, ARunThatIsWatchedShowsItsStemsAsTheyGrow) {
  std::ofstream(file("small.yaml"))
      << "audio: {chunk_size: 3968, dim_f: 192, hop_length: 128, n_fft: 512}\n"
      << "model: {act: gelu, bottleneck_factor: 4, growth: 8, norm: InstanceNorm, num_blocks_per_scale: 2, "
         "num_channels: 16, num_scales: 2, num_subbands: 4, scale: [2, 2]}\ntraining: {instruments: [kick, snare]}\n";
  ASSERT_EQ(command({"simulate", "-o", file("loop"), "--seconds", "4"}).status, 0);
  // An overlap that takes minutes.
  const testing::Program program({"separate", "run", file("loop/mixture.wav"), "--checkpoint", "formula:1", "--model",
                                  file("small.yaml"), "-o", file("out"), "--overlap", "1000", "--preview", "--live",
                                  "0"});
  const std::string url = testing::address_of(program);
  ASSERT_FALSE(url.empty()) << program.error_so_far();
  const std::string output = testing::python(std::string(testing::browser) + R"python(
print([panel['id'] for panel in page['panels']])
for text in texts():
    assert text['type'] != 'error', text
    if text['type'] != 'event' or text['event'] != 'panel/stems': continue
    stems = text['options']
    if any(y is not None for curve in stems['curves'] for y in curve['y']) and 'pass 2 of' in stems['hint']: break
print([curve['name'] for curve in stems['curves']], len(stems['places']), stems['x']['last'], stems['hint'])
send({'id': 1, 'command': 'stop'})
for text in texts():
    if text['type'] == 'event' and text['event'] == 'panel/run' and text['options']['stopping']: break
)python",
                                             url);
  EXPECT_THAT(output, AllOf(HasSubstr("['run', 'stems', 'work', 'given']"),
                            HasSubstr("['kick', 'snare'] 400 4.0 mixture.wav, pass 2 of 1000")));
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 130) << ended.err;
  // The stems of the passes that have ended are complete.
  EXPECT_EQ(testing::names_in(file("out/mixture")),
            (std::vector<std::string>{"kick.wav", "separation.json", "separation.part", "snare.wav"}));
}

TEST_F(SeparateProgram, ContinuesAfterCtrlCWithTheSameStems) {
  SONDE_NEED_DATA(data);
  const Drums drums(data);
  ASSERT_EQ(command(drums.run(file("whole"))).status, 0);
  std::vector<std::string> words = drums.run(file("parts"));
  words.insert(words.begin(), "separate");
  const testing::Program program(words);
  const std::string kept = file("parts/mixture/separation.part");
  // Until samples are finished, beyond the 8 KiB of its head; a run that ends before shows below.
  while (!std::filesystem::exists(file("parts/mixture/kick.wav")) &&
         (!std::filesystem::exists(kept) || std::filesystem::file_size(kept) < 10000)) {
  }
  kill(program.id(), SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the same command with --resume continues"));
  EXPECT_EQ(testing::names_in(file("parts/mixture")), std::vector<std::string>{"separation.part"});
  words = drums.run(file("parts"));
  words.emplace_back("--resume");
  const Value rest = results(words);
  EXPECT_GT(rest.find("inputs")->items()[0].find("resumed_at_s")->as_real(), 0);
  for (const char* stem : {"kick", "snare", "hihat", "other"}) {
    const std::string name = std::string("/mixture/") + stem + ".wav";
    EXPECT_EQ(testing::read_bytes(file("parts") + name), testing::read_bytes(file("whole") + name)) << stem;
  }
  EXPECT_TRUE(results(words).find("inputs")->items()[0].find("was_complete")->as_bool());
}

TEST_F(SeparateProgram, RefusesARunBeforeItBegins) {
  SONDE_NEED_DATA(data);
  const Drums drums(data);
  std::filesystem::create_directories(file("b"));
  std::filesystem::copy_file(drums.mixture, file("mixture.flac"));
  std::filesystem::copy_file(drums.mixture, file("b/mixture.flac"));
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = drums.run(file("out"));
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<Wrong> table = {
      {with({file("mixture.flac")}), 3, "would be written twice, from"},
      {with({file("b"), "--template", "{dir}/{file}_{stem}"}), 3, "would be written twice, from"},
      {with({"--precision", "tf32"}), 8, "--precision = tf32: the CPU does not compute in it"},
      {with({"--clip", "float", "--format", "flac"}), 3, "--clip = float: only WAV holds floating point"},
      {with({"--chunk", "64512", "--dim-t", "64"}), 2, "--chunk and --dim-t say the same in two ways"},
      {with({"--chunk", "12345"}), 3,
       "--chunk = 12345; expected 1024 (N - 1) samples with N a multiple of 8\nhint: use --chunk 7168 or --chunk "
       "15360"},
      {with({"--dim-t", "7"}), 3, "--dim-t = 7; expected a multiple of 8\nhint: use --dim-t 8"},
      {with({"--batch", "0"}), 2, "--batch = 0; expected auto or a whole number from 1 on"},
      {with({"--residual", "kik"}), 3, "--residual: unknown stem \"kik\"; did you mean \"kick\"?"},
      {with({"--device", "cuda"}), 6, ""},
      {with({"--memory", "50M"}), 4, "the network"}};
  for (const Wrong& wrong : table) expect_refused(wrong);
}

TEST_F(SeparateProgram, NoFolderStaysBehindWhenAFileIsDamaged) {
  SONDE_NEED_DATA(data);
  const Drums drums(data);
  std::filesystem::copy_file(drums.mixture, file("cut.flac"));
  std::filesystem::resize_file(file("cut.flac"), std::filesystem::file_size(file("cut.flac")) / 2);
  expect_refused({{"run", file("cut.flac"), "--checkpoint", drums.checkpoint, "-o", file("out/deeper")}, 3, "damaged"});
}

TEST_F(SeparateProgram, SaysHowLongItWillTakeBeforeAndAfterItWasMeasured) {
  SONDE_NEED_DATA(data);
  setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
  std::vector<std::string> dry = Drums(data).run(file("out"));
  dry.emplace_back("--dry-run");
  EXPECT_THAT(command(dry).err, HasSubstr("from a short measurement"));
  ASSERT_EQ(command(Drums(data).run(file("out"))).status, 0);
  const Ended again = command(dry);
  unsetenv("XDG_CACHE_HOME");
  EXPECT_THAT(again.err, AllOf(HasSubstr("expected for 4.00 s of audio"), HasSubstr("measured before")));
}

TEST_F(SeparateProgram, KeepsWhatWasMeasuredOfItsLayers) {
  SONDE_NEED_DATA(data);
  setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
  const Drums drums(data);
  const std::vector<std::string> words = {
      "run", drums.mixture, "--checkpoint", drums.checkpoint, "-o", file("out"), "--seconds", "1", "--overlap", "1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    const Ended ended = command(more);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(with({"--dry-run", "--tune"}), HasSubstr("until it is measured"));  // a dry run computes nothing
  (void)with({"--tune"});
  EXPECT_THAT(with({"--dry-run", "--tune"}), HasSubstr("the faster, measured before"));
  // Who does not ask for it has the same bits as ever.
  EXPECT_THAT(with({"--dry-run"}),
              AllOf(HasSubstr("where a layer has 256 tiles or more"), Not(HasSubstr("the faster"))));
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(SeparateProgram, GivesTheSameBitsForEveryBatchAndNumberOfThreads) {
  SONDE_NEED_DATA(data);
  const Drums drums(data);
  const auto made = [&](const std::string& batch, const std::string& threads) {
    const Ended ended = command({"run", drums.mixture, "--checkpoint", drums.checkpoint, "-o", file("out" + batch),
                                 "--seconds", "1", "--batch", batch, "--threads", threads});
    EXPECT_EQ(ended.status, 0) << ended.err;
    return testing::read_bytes(file("out" + batch + "/mixture/kick.wav"));
  };
  const auto one = made("1", "1");
  EXPECT_EQ(made("2", "2"), one);
  EXPECT_EQ(made("3", "3"), one);
  EXPECT_EQ(made("4", "1"), one);
}

TEST_F(SeparateProgram, ReportsItsStartAndItsMemory) {
  SONDE_NEED_DATA(data);
  const Value found = results(Drums(data).run(file("out")));
  const Value& run = *found.find("run");
  EXPECT_GT(run.find("first_chunk_begins_s")->as_real(), 0);
  const Value& memory = *run.find("memory");
  for (const char* moment : {"at_start", "at_peak"}) {
    EXPECT_GT(memory.find(moment)->find("free_bytes")->as_whole(), 0) << moment;
  }
  EXPECT_GT(memory.find("at_peak")->find("held_bytes")->as_whole(),
            memory.find("at_start")->find("held_bytes")->as_whole());
  for (const char* kind : {"weights", "activations", "scratch", "audio", "output"}) {
    EXPECT_GT(memory.find("planned")->find(kind)->as_whole(), 0) << kind;
  }
}

TEST_F(SeparateProgram, ReportsStagesAndLayersOfTheNetwork) {
  SONDE_NEED_DATA(data);
  const Value found = results(Drums(data).run(file("out")));
  const Value& network = *found.find("run")->find("network");
  EXPECT_EQ(network.find("stages")->items().front().find("stage")->as_text(), "spectrum");
  double stages = 0;
  for (const Value& each : network.find("stages")->items()) stages += each.find("wall_s")->as_real();
  const Value& times = *found.find("inputs")->items()[0].find("run");
  // All that a chunk does is in a stage.
  EXPECT_NEAR(stages, times.find("network_s")->as_real(), 0.05 * stages);
  EXPECT_LE(times.find("first_chunk_s")->as_real(), times.find("network_s")->as_real());
}

TEST_F(SeparateProgram, ComparesHalfPrecisionWithFloat32) {
  SONDE_NEED_DATA(data);
  std::vector<std::string> words = Drums(data).run(file("out"));
  words.insert(words.end(), {"--precision", "f16", "--verify-precision"});
  // Rounding to 11 bits, in 40 layers: PyTorch's loses as much (57 dB).
  EXPECT_GT(results(words).find("precision_db")->as_real(), 50);
}

}  // namespace
}  // namespace sonde
