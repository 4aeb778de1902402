// SPDX-License-Identifier: Apache-2.0
// Scores of stems, and their pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/cli/instrument_program.h"
#include "tests/support/data.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;

class SeparateScores : public testing::InstrumentProgram {
 protected:
  SeparateScores() : InstrumentProgram("separate") {}
};

TEST_F(SeparateScores, BssEvalOfAPublishedCaseIsThePublishedOne) {
  SONDE_NEED_DATA(data);
  const auto folder = data / "separation/bss_eval/case05";
  // Of expected.json, whose frames are 1600 samples every 1000 at 8 kHz.
  const Value found = results({"eval", (folder / "ref").string(), (folder / "est").string(), "--metrics", "bss_eval",
                               "--frame", "0.2", "--hop", "0.125", "-o", file("scores.csv")});
  const Value& first = found.find("stems")->items().front();
  EXPECT_NEAR(first.find("bss_sir_db")->as_real(), 19.310156466664875, 1e-3);
  EXPECT_NEAR(first.find("frames")->find("bss_sdr_db")->items().at(1).as_real(), 17.328375913229216, 1e-3);
  std::ifstream table(file("scores.csv"));
  std::string head;
  std::getline(table, head);
  EXPECT_THAT(head, AllOf(HasSubstr("stem,sdr_db,si_sdr_db"), HasSubstr("bss_sar_db")));
}

TEST_F(SeparateScores, AMixtureBesideTheStemsIsWhatTheyAreComparedWith) {
  SONDE_NEED_DATA(data);
  const std::string piece = (data / "separation/demo/synth0").string();
  const Ended ended = command({"eval", piece, piece});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("stems       4 of 10.00 s"), HasSubstr("-19.24")));  // hihat, in scores.json
}

TEST_F(SeparateScores, WrongInputEndsWithItsStatusAndWritesNothing) {
  SONDE_NEED_DATA(data);
  const auto of = data / "separation";
  const std::string piece = (of / "demo/synth0").string(), other = (of / "bss_eval/case05/est").string();
  const Wrong table[] = {{{"eval", piece, other}, 3, "no stem is in both"},
                         {{"eval", piece, file("none")}, 3, "a file and a folder"},
                         {{"eval", piece + "/kick.flac", other + "/0.wav"}, 3, "8000 Hz, but"},
                         {{"eval", piece, piece, "--metrics", "pesq"}, 2, "unknown metric \"pesq\""},
                         {{"eval", piece, piece, "-o", file("scores.txt")}, 2, ".csv"},
                         {{"eval", other + "/0.wav", (of / "demo/tiny_drums.yaml").string()}, 3, "tiny_drums.yaml"},
                         {{"plot", (of / "demo/tiny_drums.yaml").string(), "-o", file("p.svg")}, 3, "tiny_drums.yaml"},
                         {{"plot", piece + "/kick.flac", "-o", file("p.gif")}, 2, ".png"}};
  for (const Wrong& wrong : table) expect_refused(wrong);
}

TEST_F(SeparateScores, SpectrogramsOfSeveralFilesAreOnePicture) {
  SONDE_NEED_DATA(data);
  const std::string piece = (data / "separation/demo/synth0").string();
  ASSERT_EQ(command({"plot", piece + "/mixture.flac", piece + "/kick.flac", "-o", file("stems.svg")}).status, 0);
  std::ifstream stored(file("stems.chart.json"));
  std::stringstream text;
  text << stored.rdbuf();
  EXPECT_THAT(text.str(), AllOf(HasSubstr("mixture"), HasSubstr("kick")));
}

TEST_F(SeparateScores, ASimulatedLoopIsWhatItsEventsSay) {
  const Value made = results({"simulate", "-o", file("loop"), "--seconds", "4", "--backing"});
  EXPECT_THAT(testing::names_in(file("loop")),
              ::testing::UnorderedElementsAre("kick.wav", "snare.wav", "toms.wav", "hihat.wav", "cymbals.wav",
                                              "music.wav", "mixture.wav", "events.csv", "events.mid"));
  // Its true stems have no error, and their hits are found.
  const Value scores = results({"eval", file("loop"), file("loop")});
  EXPECT_EQ(scores.find("stems")->items().size(), 6u);
  EXPECT_GT(scores.find("mean")->find("sdr_db")->as_real(), 80);
  const Value found = results({"midi", file("loop/kick.wav"), file("loop/snare.wav"), file("loop/hihat.wav"), "-o",
                               file("found.mid"), "--reference", file("loop/events.mid")});
  EXPECT_GE(found.find("score")->find("pooled")->find("merged_50_ms")->find("f_measure")->as_real(), 0.95);
}

TEST_F(SeparateScores, TheDemonstrationRaisesTheScoreByEightDecibels) {
  const Value found = results({"demo", "-o", file("demo"), "--seconds", "4"});
  EXPECT_GE(found.find("rise_db")->as_real(), 8);
  EXPECT_THAT(testing::names_in(file("demo/stems")),
              ::testing::UnorderedElementsAre("kick.wav", "snare.wav", "hihat.wav", "other.wav", "scores.csv",
                                              "drums.mid", "about.txt"));
  EXPECT_THAT(testing::names_in(file("demo")), ::testing::IsSupersetOf({"loop", "stems", "separation.chart.json"}));
}

TEST_F(SeparateScores, TheDemonstrationOfTheProgramReplacesItsOwnFilesOnly) {
  std::filesystem::create_directory(file("loop"));
  std::ofstream(file("loop/kick.wav")) << "my own recording";
  // At once, before any instrument works, and the second time as well.
  for (int i = 0; i < 2; ++i) EXPECT_NE(testing::run({"demo", "-o", file("."), "--quiet"}).status, 0);
  EXPECT_THAT(testing::names_in(file(".")), ::testing::UnorderedElementsAre("loop"));
  EXPECT_EQ(testing::read_bytes(file("loop/kick.wav")).size(), 16u);
}

TEST_F(SeparateScores, SimulationsAndDemonstrationsNeedAFolder) {
  expect_refused({{"simulate", "--quiet"}, 2, "--output is missing"});
  expect_refused({{"demo", "--quiet"}, 2, "--output is missing"});
  expect_refused({{"simulate", "-o", file("loop"), "--tempo", "900"}, 2, "--tempo"});
}

}  // namespace
}  // namespace sonde
