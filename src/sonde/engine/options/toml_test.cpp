// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/options/example_options.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using testing::error_of;
using testing::ExampleOptions;

ExampleOptions read(std::string_view text, std::string_view command = "stem load") {
  ExampleOptions options;
  Fields fields(options);
  parse_toml(text, "run.toml", fields, command);
  return options;
}

std::string refused_toml(std::string_view text) {
  return error_of(ErrorKind::bad_file, [&] { read(text); });
}

TEST(Toml, KeysSetFields) {
  const ExampleOptions options =
      read("det_bin = 4\nvoltage = 300 # kV\nhot_pixels = false\nmemory = \"8G\"\ndetector = [\"BF\", \"ADF\"]\n");
  EXPECT_EQ(options.det_bin, "4");
  EXPECT_EQ(options.voltage, 300.0);
  EXPECT_FALSE(options.hot_pixels);
  EXPECT_EQ(options.memory, Bytes{std::size_t{8} << 30});
  EXPECT_THAT(options.detector, ::testing::ElementsAre("BF", "ADF"));
}

TEST(Toml, TablesOfOtherCommandsAreLeftAlone) {
  const ExampleOptions options = read("[stem.image]\nnonsense = 1\n[ptycho]\ndose = 7.0\n[stem.load]\ndose = 3.0\n");
  EXPECT_EQ(options.dose, 3.0);
}

TEST(Toml, TheTableOfTheCommandCountsMoreThanTheGeneralKeys) {
  EXPECT_EQ(read("dose = 1\n[stem]\ndose = 2\n[stem.load]\ndose = 3\n").dose, 3.0);
  EXPECT_EQ(read("dose = 1\n[stem]\ndose = 2\n[stem.load]\ndose = 3\n", "stem image").dose, 2.0);
  EXPECT_EQ(read("dose = 1\n[stem]\ndose = 2\n", "bench").dose, 1.0);
}

TEST(Toml, UnknownKeysNameFileLineAndNearest) {
  EXPECT_EQ(refused_toml("dose = 1\n\ndetecter = \"BF\"\n"),
            "error: unknown key \"detecter\" in run.toml line 3; did you mean \"detector\"?");
}

TEST(Toml, WrongTypesNameFileAndLine) {
  EXPECT_EQ(refused_toml("\nframes = \"many\"\n"),
            "error: frames in run.toml line 2: expected a whole number, found text");
  EXPECT_EQ(refused_toml("frames = 1979-05-27\n"),
            "error: frames in run.toml line 1: a value of this kind is not a setting");
  EXPECT_EQ(refused_toml("[frames]\nmany = 1\n"), "error: frames in run.toml line 1: expected a value, found a table");
}

TEST(Toml, LimitsHoldInFilesToo) {
  EXPECT_EQ(refused_toml("frames = 0"),
            "error: frames in run.toml line 1: 0 is below the smallest allowed value, 1 frames");
}

TEST(Toml, EveryProblemIsReported) {
  EXPECT_EQ(refused_toml("frames = 0\nedgy = 1\n"),
            "error: 2 settings in run.toml cannot be used\n"
            "  - unknown key \"edgy\" in run.toml line 2; did you mean \"edge\"?\n"
            "  - frames in run.toml line 1: 0 is below the smallest allowed value, 1 frames");
}

TEST(Toml, SyntaxErrorsNameFileAndLine) {
  EXPECT_THAT(refused_toml("dose = 1\nframes = = 3\n"), ::testing::StartsWith("error: run.toml line 2: "));
}

TEST(Toml, WhatBelongsToOneRunIsNotReadFromAFile) {
  EXPECT_EQ(refused_toml("dry_run = true"),
            "error: dry_run in run.toml line 1: not allowed in a configuration file\nhint: give --dry-run by itself");
  EXPECT_EQ(refused_toml("input = \"a.h5\""),
            "error: input in run.toml line 1: not allowed in a configuration file\nhint: give it as an argument");
}

TEST(Toml, FlagsCountMoreThanTheFile) {
  ExampleOptions options;
  Fields fields(options);
  parse_toml("dose = 1\nframes = 5\n", "run.toml", fields);
  fields.assign_text("dose", "9", "--dose");
  EXPECT_EQ(options.dose, 9.0);
  EXPECT_EQ(options.frames, 5);
}

TEST(Toml, AMissingFileIsNamed) {
  ExampleOptions options;
  Fields fields(options);
  EXPECT_EQ(error_of(ErrorKind::bad_file, [&] { read_toml("/nowhere/run.toml", fields); }),
            "error: /nowhere/run.toml: no such file");
}

TEST(Toml, AFileIsRead) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder.file("run.toml"), {'d', 'o', 's', 'e', '=', '4'});
  ExampleOptions options;
  Fields fields(options);
  read_toml(folder.file("run.toml"), fields);
  EXPECT_EQ(options.dose, 4.0);
}

TEST(Toml, ATableOfNoCommandIsNamedWithTheNearest) {
  ExampleOptions options;
  Fields fields(options);
  const std::vector<std::string> commands = {"stem load", "stem image", "devices"};
  EXPECT_NO_THROW(parse_toml("[stem.image]\nanything = 1\n", "run.toml", fields, "stem load", commands));
  EXPECT_EQ(error_of(ErrorKind::bad_file,
                     [&] { parse_toml("[stem.laod]\nframes = 1\n", "run.toml", fields, "stem load", commands); }),
            "error: unknown table [stem.laod] in run.toml line 1; did you mean \"stem.load\"?");
}

TEST(Toml, ATableOfAnotherCommandMayHaveTheNameOfASetting) {
  std::string report;
  Fields fields;
  fields.add("report", report);
  parse_toml("[report.show]\nwidth = 3\n", "a.toml", fields, "stem load", {"stem load", "report show"});
  EXPECT_EQ(report, "");
  EXPECT_THROW(parse_toml("[report]\nwidth = 3\n", "a.toml", fields, "stem load", {"stem load"}), Error);
}

}  // namespace
}  // namespace sonde
