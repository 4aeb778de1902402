// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;

const std::vector<std::string> drums = {"Kick", "Snare", "Ride", "Crash"};

TEST(ChooseOutputs, TakesAllStemsOrTheNamedOnesWithoutCase) {
  EXPECT_EQ(choose_outputs(drums).size(), 4U);
  const auto two = choose_outputs(drums, "snare, KICK");
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].name, "Snare");
  EXPECT_THAT(two[1].stems, ElementsAre(1, 0, 0, 0));
}

TEST(ChooseOutputs, AddsAndSubtracts) {
  const auto all =
      choose_outputs(drums, "kick", {.mixes = {"cymbals=Ride+Crash", "drumless = mixture - kick - snare"}});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[1].stems, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(all[2].name, "drumless");
  EXPECT_EQ(all[2].mixture, 1);
  EXPECT_THAT(all[2].stems, ElementsAre(-1, -1, 0, 0));
}

TEST(ChooseOutputs, NamesTheNearestStem) {
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)choose_outputs(drums, "snar"); }),
            "error: --stems: unknown stem \"snar\"; did you mean \"Snare\"?\nhint: this network has Kick, Snare, Ride "
            "and Crash");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)choose_outputs(drums, "", {.mixes = {"x"}}); }),
            "error: --mix x: not a sum; expected NAME=a+b-c");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)choose_outputs(drums, "", {.mixes = {"kick=ride"}}); }),
            "error: two outputs are called \"kick\"; expected a name of its own for each");
}

TEST(ChooseOutputs, LeavesOutWhatIsOfAnotherNetwork) {
  const std::vector<std::string> song = {"vocals", "drums", "other"}, kit = {"kick", "snare", "other"};
  const Sums sums = {.mixes = {"instrumental=mixture-vocals", "both = kick + snare", "same=mixture"},
                     .residuals = {"kick", "all"}};
  const auto names = [](const std::vector<Output>& outputs) {
    std::vector<std::string> of;
    for (const Output& each : outputs) of.push_back(each.name);
    return of;
  };
  EXPECT_THAT(names(choose_outputs(song, "Vocals, kick, other", sums, kit)),
              ElementsAre("vocals", "other", "instrumental", "same", "residual"));
  EXPECT_THAT(names(choose_outputs(kit, "Vocals, kick, other", sums, song)),
              ElementsAre("kick", "other", "both", "same", "no_kick", "residual"));
  EXPECT_TRUE(choose_outputs(song, "kick", {}, kit).empty());
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)choose_outputs(song, "kik", {}, kit); }),
            "error: --stems: unknown stem \"kik\"; did you mean \"kick\"?\nhint: the networks have vocals, drums, "
            "other, kick, snare and other");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)choose_outputs(song, "", {.mixes = {"x=drums+kick"}}, kit); }),
            "error: --mix x=drums+kick: stems of two networks; expected those of one");
}

TEST(ChooseOutputs, ResidualsAreTheMixtureWithoutStems) {
  const auto all = choose_outputs(drums, "kick", {.residuals = {"snare", "all"}});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].name, "no_Snare");
  EXPECT_EQ(all[1].mixture, 1);
  EXPECT_THAT(all[1].stems, ElementsAre(0, -1, 0, 0));
  EXPECT_EQ(all[2].name, "residual");
  EXPECT_EQ(all[2].mixture, 1);
  EXPECT_THAT(all[2].stems, ElementsAre(-1, -1, -1, -1));
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)choose_outputs(drums, "", {.residuals = {"kik"}}); }),
            "error: --residual: unknown stem \"kik\"; did you mean \"Kick\"?\nhint: this network has Kick, Snare, Ride "
            "and Crash");
}

TEST(OutputPath, FillsInThePattern) {
  const PathWords words{.file = "My song.v2", .dir = "b/c", .model = "DrumSep", .stem = "hi/../hat"};
  EXPECT_EQ(output_path("out", "{file}/{stem}", words), "out/My song.v2/hi..hat");
  EXPECT_EQ(output_path("out", "{dir}/{file}_({stem})_{model}", words), "out/b/c/My song.v2_(hi..hat)_DrumSep");
  EXPECT_EQ(output_path("out", "{dir}/{file}", {.file = "a"}), "out/a");
}

TEST(OutputPath, StaysBelowTheFolder) {
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)output_path("o", "../{stem}", {.stem = "k"}); }),
            "error: --template = ../{stem}: leaves the output folder; expected names below it");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)output_path("o", "{song}", {}); }),
            "error: --template = {song}: unknown word {song}; expected {file}, {stem}, {model} or {dir}");
}

TEST(FindInputs, TakesTheAudioFilesOfFoldersByName) {
  const sonde::testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "in/b");
  for (const char* name : {"in/z.flac", "in/a.WAV", "in/notes.txt", "in/b/c.mp3"})
    std::ofstream(folder.file(name)) << "";
  const auto found = [&](bool recursive) {
    std::string text;
    for (const FoundInput& each : find_inputs({"one.wav", folder.file("in")}, recursive)) {
      text += each.dir + ":" + std::filesystem::path(each.path).filename().string() + " ";
    }
    return text;
  };
  EXPECT_EQ(found(false), ":one.wav :a.WAV :z.flac ");
  EXPECT_EQ(found(true), ":one.wav :a.WAV b:c.mp3 :z.flac ");
  std::filesystem::create_directories(folder.path() / "empty");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)find_inputs({folder.file("empty")}, false); }),
            "error: " + folder.file("empty") +
                ": a folder without audio files; expected WAV, AIFF, FLAC, Ogg or MP3\nhint: use --recursive to look "
                "into the folders in it");
}

}  // namespace
}  // namespace sonde::separate
