// SPDX-License-Identifier: Apache-2.0
// Two networks in one run: a song, its drums, and the drum kit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/instrument_program.h"
#include "tests/support/places.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kit = testing::source_folder() + "/assets/tiny_drums.ckpt";

/// A second of a song in a.wav, and a small network for it.
class TwoNetworksInARun : public testing::InstrumentProgram {
 protected:
  TwoNetworksInARun() : InstrumentProgram("separate") {
    std::ofstream(file("song.yaml"))
        << "audio: {chunk_size: 3968, dim_f: 192, hop_length: 128, n_fft: 512}\n"
        << "model: {act: gelu, bottleneck_factor: 4, growth: 8, norm: InstanceNorm, num_blocks_per_scale: 2, "
           "num_channels: 16, num_scales: 2, num_subbands: 4, scale: [2, 2]}\n"
        << "training: {instruments: [Vocals, Drums, other]}\n";
    (void)command({"simulate", "-o", file("loop"), "--seconds", "1"});
    std::filesystem::rename(file("loop/mixture.wav"), file("a.wav"));
    std::filesystem::remove_all(file("loop"));
  }
  [[nodiscard]] std::vector<std::string> first(const std::string& input, std::vector<std::string> more) const {
    more.insert(more.begin(),
                {"run", file(input), "--checkpoint", "formula:1", "--model", file("song.yaml"), "--overlap", "1"});
    return more;
  }
  [[nodiscard]] std::vector<std::string> both(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--then", kit});
    return first("a.wav", std::move(more));
  }
  /// A third of a second, in short chunks of the kit.
  [[nodiscard]] std::vector<std::string> both_shortly(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--seconds", "0.3", "--then-dim-t", "8"});
    return both(std::move(more));
  }
  void expect_same(const std::string& a, const std::string& b) const {
    EXPECT_EQ(testing::read_bytes(file(a)), testing::read_bytes(file(b))) << a;
  }
};

TEST_F(TwoNetworksInARun, WriteWhatTwoRunsWrite) {
  const Value found = results(both_shortly({"-o", file("out"), "--midi"}));
  ASSERT_EQ(command(first("a.wav", {"-o", file("apart"), "--seconds", "0.3"})).status, 0);
  ASSERT_EQ(command({"run", file("apart/a/Drums.wav"), "--checkpoint", kit, "-o", file("apart/a"), "--overlap", "1",
                     "--dim-t", "8", "--midi"})
                .status,
            0);
  for (const char* name : {"a/Vocals.wav", "a/Drums.wav", "a/other.wav", "a/Drums/kick.wav", "a/Drums/snare.wav",
                           "a/Drums/hihat.wav", "a/Drums/other.wav", "a/Drums/drums.mid"}) {
    expect_same(std::string("out/") + name, std::string("apart/") + name);
  }
  EXPECT_EQ(testing::names_in(file("out/a/Drums")), testing::names_in(file("apart/a/Drums")));
  Index events = 0;
  for (const Value& drum : found.find("drums")->items()) events += drum.find("events")->as_whole();
  EXPECT_GT(events, 0);
  EXPECT_EQ(found.find("inputs")->items().size(), 1u);
  const Value& then = *found.find("then");
  const Value& stem = then.find("inputs")->items().front();
  EXPECT_EQ(stem.find("stem")->as_text(), "Drums");
  EXPECT_EQ(stem.find("path")->as_text(), file("a.wav"));
  EXPECT_FALSE(then.find("run")->find("network")->find("layers")->items().empty());
  EXPECT_GT(then.find("run")->find("memory")->find("at_peak")->find("held_bytes")->as_whole(), 0);
  EXPECT_EQ(found.find("files")->items().size(), 8u);
}

TEST_F(TwoNetworksInARun, WriteTheStemsThatAreNamedOfEither) {
  ASSERT_EQ(
      command(both_shortly({"-o", file("out"), "--template", "{file}_({stem})_{model}", "--stems", "vocals,KICK"}))
          .status,
      0);
  EXPECT_EQ(testing::names_in(file("out")),
            (std::vector<std::string>{"a_(Vocals)_formula1.wav", "a_(separation)_formula1.json",
                                      "a_Drums_formula1_(kick)_tiny_drums.wav",
                                      "a_Drums_formula1_(separation)_tiny_drums.json"}));
}

TEST_F(TwoNetworksInARun, AreHeldTogetherWhereTheyFitAndThereAreSeveralSongs) {
  std::filesystem::copy_file(file("a.wav"), file("b.wav"));
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = both_shortly(std::move(more));
    words.insert(words.begin() + 1, file("b.wav"));
    return words;
  };
  const Ended ended = command(with({"-o", file("out")}));
  EXPECT_THAT(ended.err, HasSubstr("networks    both in memory"));
  const Ended little = command(with({"-o", file("little"), "--memory", "100M"}));
  EXPECT_THAT(little.err, HasSubstr("networks    one in memory at a time"));
  for (const char* song : {"a", "b"}) {
    for (const char* name : {"/other.wav", "/Drums/kick.wav"}) {
      expect_same(std::string("out/") + song + name, std::string("little/") + song + name);
    }
  }
}

TEST_F(TwoNetworksInARun, ADryRunSaysTimeAndMemoryOfBoth) {
  const Ended ended = command(both({"-o", file("out"), "--dry-run", "--then-overlap", "2", "--midi"}));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("Drums.wav: a stem of a.wav, 2 channels, 44100 Hz, 1.00 s, 2 chunks"),
                               HasSubstr("memory of the second network"), HasSubstr("networks    one in memory"),
                               HasSubstr(" in all")));
  EXPECT_FALSE(std::filesystem::exists(file("out")));
}

TEST_F(TwoNetworksInARun, AreRefusedBeforeTheyBegin) {
  const std::string out = file("out");
  std::ofstream(file("broken.ckpt")) << "PK";
  const std::vector<Wrong> table = {
      {both({"-o", out, "--then-stem", "drum"}), 3, "--then-stem: unknown stem \"drum\"; did you mean \"Drums\"?"},
      {first("a.wav", {"-o", out, "--then-stem", "other"}), 2,
       "--then-stem: there is no second network\nhint: name it, --then MODEL.ckpt"},
      {first("a.wav", {"-o", out, "--then", file("no.ckpt")}), 3, "no.ckpt: no such file"},
      {first("a.wav", {"-o", out, "--then", file("broken.ckpt")}), 3, "broken.ckpt"},
      {first("a.wav", {"-o", out, "--then", "formula:2"}), 2,
       "--then formula:2 needs a configuration\nhint: give the YAML file of a network by --then-model"},
      {both({"-o", out, "--then-chunk", "12345"}), 3, "--then-chunk = 12345; expected"},
      {both({"-o", out, "--then-chunk", "7168", "--then-dim-t", "8"}), 2,
       "--then-chunk and --then-dim-t say the same in two ways"},
      {both({"-o", out, "--stems", "vocals"}), 3, "--stems = vocals: none of the second network"},
      {both({"-o", out, "--stems", "kik"}), 3, "--stems: unknown stem \"kik\"; did you mean \"kick\"?"},
      {both({"-o", out, "--template", "{stem}"}), 3, "other.wav: would be written twice, from"},
      {both({"-o", out, "--template", "{stem}", "--stems", "vocals,kick"}), 3,
       "separation.json: would be written twice, from"},
      {both({"-o", out, "--midi", "--stems", "other"}), 3, "--midi: none of the stems is a drum: other"},
      {both({"-o", out, "--memory", "70M"}), 4, "the second network"}};
  for (const Wrong& wrong : table) expect_refused(wrong);
}

TEST_F(TwoNetworksInARun, ContinueInTheSecondNetworkAfterCtrlC) {
  const auto words = [&](const std::string& output) {
    return both({"-o", file(output), "--then-overlap", "6", "--then-dim-t", "8"});
  };
  ASSERT_EQ(command(words("whole")).status, 0);
  std::vector<std::string> with_instrument = words("parts");
  with_instrument.insert(with_instrument.begin(), "separate");
  const testing::Program program(with_instrument);
  const std::string kept = file("parts/a/Drums/separation.part");
  // Until samples are finished, beyond the 8 KiB of its head; a run that ends before shows below.
  while (!std::filesystem::exists(file("parts/a/Drums/kick.wav")) &&
         (!std::filesystem::exists(kept) || std::filesystem::file_size(kept) < 10000)) {
  }
  kill(program.id(), SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the same command with --resume continues"));
  EXPECT_EQ(testing::names_in(file("parts/a/Drums")), std::vector<std::string>{"separation.part"});
  std::vector<std::string> again = words("parts");
  again.emplace_back("--resume");
  const Value rest = results(again);
  EXPECT_TRUE(rest.find("inputs")->items()[0].find("was_complete")->as_bool());
  EXPECT_GT(rest.find("then")->find("inputs")->items()[0].find("resumed_at_s")->as_real(), 0);
  for (const char* name : {"/a/Vocals.wav", "/a/Drums/kick.wav", "/a/Drums/other.wav"}) {
    expect_same(std::string("parts") + name, std::string("whole") + name);
  }
  EXPECT_FALSE(std::filesystem::exists(file("parts/a/separation.part")));
}

TEST_F(TwoNetworksInARun, NothingIsSaidOfResumeWhereNothingIsKept) {
  // The first sample is finished after as many chunks as cover it, which take seconds.
  const testing::Program program({"separate", "run", file("a.wav"), "--checkpoint", "formula:1", "--model",
                                  file("song.yaml"), "-o", file("out"), "--overlap", "1000"});
  while (!std::filesystem::exists(file("out/a/separation.part"))) {
  }
  kill(program.id(), SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("--resume")));
  EXPECT_FALSE(std::filesystem::exists(file("out")));
}

}  // namespace
}  // namespace sonde
