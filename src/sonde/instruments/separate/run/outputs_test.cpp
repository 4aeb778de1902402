// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;

const std::vector<std::string> drums = {"Kick", "Snare", "Ride", "Crash"};

TEST(ChooseOutputs, TakesAllStemsOrTheNamedOnesWithoutCase) {
  EXPECT_EQ(choose_outputs(drums, "", {}).size(), 4U);
  const auto two = choose_outputs(drums, "snare, KICK", {});
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].name, "Snare");
  EXPECT_THAT(two[1].stems, ElementsAre(1, 0, 0, 0));
}

TEST(ChooseOutputs, AddsAndSubtracts) {
  const auto all = choose_outputs(drums, "kick", {"cymbals=Ride+Crash", "drumless = mixture - kick - snare"});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[1].stems, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(all[2].name, "drumless");
  EXPECT_EQ(all[2].mixture, 1);
  EXPECT_THAT(all[2].stems, ElementsAre(-1, -1, 0, 0));
}

TEST(ChooseOutputs, NamesTheNearestStem) {
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)choose_outputs(drums, "snar", {}); }),
            "error: --stems: unknown stem \"snar\"; did you mean \"Snare\"?\nhint: this network has Kick, Snare, Ride "
            "and Crash");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)choose_outputs(drums, "", {"x"}); }),
            "error: --mix x: not a sum; expected NAME=a+b-c");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)choose_outputs(drums, "", {"kick=ride"}); }),
            "error: two outputs are called \"kick\"; expected a name of its own for each");
}

TEST(OutputPath, FillsInThePattern) {
  EXPECT_EQ(output_path("out", "{file}/{stem}", "songs/My song.v2.flac", "DrumSep.ckpt", "kick", AudioFormat::wav),
            "out/My song.v2/kick.wav");
  EXPECT_EQ(output_path("out", "{file}_({stem})_{model}", "a.wav", "m/DrumSep.ckpt", "hi/../hat", AudioFormat::flac),
            "out/a_(hi..hat)_DrumSep.flac");
}

TEST(OutputPath, StaysBelowTheFolder) {
  EXPECT_EQ(
      error_of(ErrorKind::bad_input, [] { (void)output_path("o", "../{stem}", "a", "m", "k", AudioFormat::wav); }),
      "error: --template = ../{stem}: leaves the output folder; expected names below it");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)output_path("o", "{song}", "a", "m", "k", AudioFormat::wav); }),
            "error: --template = {song}: unknown word {song}; expected {file}, {stem} or {model}");
}

}  // namespace
}  // namespace sonde::separate
