// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/options/example_options.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using testing::Edge;
using testing::error_of;
using testing::ExampleOptions;

struct Assign : ::testing::Test {
  ExampleOptions options;
  Fields fields{options};
  std::string refused(const std::string& key, const std::string& text) {
    return error_of(ErrorKind::usage, [&] { fields.assign_text(key, text, fields.find(key)->flag()); });
  }
};

TEST_F(Assign, TextsReachMembersOfEveryType) {
  fields.assign_text("input", "a.h5", "INPUT");
  fields.assign_text("det_bin", "auto", "--det-bin");
  fields.assign_text("frames", "+12", "--frames");
  fields.assign_text("seed", "-3", "--seed");
  fields.assign_text("dose", "1e-2", "--dose");
  fields.assign_text("voltage", "300", "--voltage");
  fields.assign_text("centre", "95.5,96", "--centre");
  fields.assign_text("hot_pixels", "false", "--hot-pixels");
  fields.assign_text("block", "8k", "--block");
  fields.assign_text("memory", "2G", "--memory");
  fields.assign_text("edge", "drop", "--edge");
  EXPECT_EQ(options.input, "a.h5");
  EXPECT_EQ(options.det_bin, "auto");
  EXPECT_EQ(options.frames, 12);
  EXPECT_EQ(options.seed, -3);
  EXPECT_EQ(options.dose, 0.01);
  EXPECT_EQ(options.voltage, 300.0);
  EXPECT_EQ(options.centre, "95.5,96");
  EXPECT_FALSE(options.hot_pixels);
  EXPECT_EQ(options.block.value, 8192u);
  EXPECT_EQ(options.memory, Bytes{std::size_t{2} << 30});
  EXPECT_EQ(options.edge, Edge::drop);
}

TEST_F(Assign, AliasIsTheSameField) {
  fields.assign_text("center", "1,2", "--center");
  EXPECT_EQ(options.centre, "1,2");
  EXPECT_TRUE(fields.is_set("centre"));
}

TEST_F(Assign, RepeatedTextsReplaceTheDefaultAndAreCollected) {
  fields.assign_text("detector", "ADF", "--detector");
  fields.assign_text("detector", "HAADF", "--detector");
  EXPECT_THAT(options.detector, ::testing::ElementsAre("ADF", "HAADF"));
}

TEST_F(Assign, TheCallersListReplacesTheFilesList) {
  fields.assign("detector", std::vector<std::string>{"ABF", "ADF"}, "run.toml line 1", Origin::file);
  fields.assign_text("detector", "HAADF", "--detector");
  EXPECT_THAT(options.detector, ::testing::ElementsAre("HAADF"));
}

TEST_F(Assign, UnknownKeysNameTheNearest) {
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { fields.assign("det_bim", 2, "run.toml line 3"); }),
            "error: unknown key \"det_bim\" in run.toml line 3; did you mean \"det_bin\"?");
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { fields.assign("colour_of_the_sky", 2, ""); }),
            "error: unknown key \"colour_of_the_sky\"");
}

TEST_F(Assign, TextsOfAnotherTypeAreRefused) {
  EXPECT_EQ(refused("frames", "many"), "error: --frames: \"many\" is not a whole number");
  EXPECT_EQ(refused("frames", "1.5"), "error: --frames: \"1.5\" is not a whole number");
  EXPECT_EQ(refused("frames", "99999999999999999999"),
            "error: --frames: \"99999999999999999999\" is not a whole number");
  EXPECT_EQ(refused("dose", "1,5"), "error: --dose: \"1,5\" is not a number");
  EXPECT_EQ(refused("dose", ""), "error: --dose: \"\" is not a number");
  EXPECT_EQ(refused("dose", "nan"), "error: --dose: nan is not a finite number");
  EXPECT_EQ(refused("hot_pixels", "maybe"), "error: --hot-pixels: \"maybe\" is not true or false");
  EXPECT_EQ(refused("memory", "lots"),
            "error: --memory: \"lots\" is not a size in bytes\nhint: write for instance 8G or 512M");
}

TEST_F(Assign, LimitsAreNamedWithTheirUnit) {
  EXPECT_EQ(refused("frames", "0"), "error: --frames: 0 is below the smallest allowed value, 1 frames");
  EXPECT_EQ(refused("voltage", "3000"), "error: --voltage: 3000 is above the largest allowed value, 2000 kV");
  EXPECT_EQ(refused("block", "1k"), "error: --block: 1.00 KiB is below the smallest allowed value, 4.00 KiB");
}

TEST_F(Assign, ARefusedValueLeavesTheFieldAsItWas) {
  refused("frames", "0");
  EXPECT_EQ(options.frames, 100);
  EXPECT_FALSE(fields.is_set("frames"));
}

TEST_F(Assign, UnknownWordsOfAChoiceNameTheOthers) {
  EXPECT_EQ(refused("edge", "keeo"),
            "error: --edge: unknown word \"keeo\"; did you mean \"keep\"?\nhint: give one of keep or drop");
}

TEST_F(Assign, TypedValuesReachMembers) {
  Value settings;
  settings["det_bin"] = 4;
  settings["voltage"] = 200;
  settings["hot_pixels"] = false;
  settings["memory"] = "1G";
  settings["block"] = 8192;
  settings["detector"] = "ADF";
  settings["seed"] = Value();
  fields.assign_all(settings, "");
  EXPECT_EQ(options.det_bin, "4");
  EXPECT_EQ(options.voltage, 200.0);
  EXPECT_FALSE(options.hot_pixels);
  EXPECT_EQ(options.memory, Bytes{std::size_t{1} << 30});
  EXPECT_EQ(options.block, Bytes{8192});
  EXPECT_THAT(options.detector, ::testing::ElementsAre("ADF"));
  EXPECT_EQ(options.seed, std::nullopt);
}

TEST_F(Assign, AListOfNumbersIsTheTextWithCommas) {
  Value pair = Value::list();
  pair.push_back(95.5);
  pair.push_back(96);
  fields.assign("centre", pair, "load()");
  EXPECT_EQ(options.centre, "95.5,96");
}

TEST_F(Assign, ListsInAListAreOneAfterTheOther) {
  Value rows = Value::list();
  rows.push_back(Value(std::vector<Index>{1, 2}));
  rows.push_back(Value(std::vector<Index>{3, 4}));
  fields.assign("centre", rows, "load()");
  EXPECT_EQ(options.centre, "1,2,3,4");
}

TEST_F(Assign, TypedValuesOfAnotherTypeAreRefused) {
  const auto message = [&](const char* key, const Value& value) {
    return error_of(ErrorKind::usage, [&] { fields.assign(key, value, "run.toml line 2"); });
  };
  EXPECT_EQ(message("frames", 1.5), "error: frames in run.toml line 2: expected a whole number, found real number");
  EXPECT_EQ(message("frames", Value()), "error: frames in run.toml line 2: expected a whole number, found null");
  EXPECT_EQ(message("hot_pixels", 1),
            "error: hot_pixels in run.toml line 2: expected true or false, found whole number");
  EXPECT_EQ(message("edge", 1), "error: edge in run.toml line 2: expected a word, found whole number");
  EXPECT_EQ(message("det_bin", Value::list()), "error: det_bin in run.toml line 2: expected text, found list");
  EXPECT_EQ(message("block", -1), "error: block in run.toml line 2: a size in bytes is not negative");
  EXPECT_EQ(message("memory", "x"),
            "error: memory in run.toml line 2: \"x\" is not a size in bytes\nhint: write for instance 8G or 512M");
}

TEST(Choices, WrittenLikeNumbersAreTheNumbersToo) {
  int order = 2;
  Fields fields;
  fields.choice("order", order, {{"2", 2}, {"4", 4}});
  fields.assign("order", Value(Index{4}), "run()");
  EXPECT_EQ(order, 4);
  fields.assign("order", Value("2"), "run()");
  EXPECT_EQ(order, 2);
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { fields.assign("order", Value(Index{3}), "run()"); }),
            "error: order in run(): unknown word \"3\"; did you mean \"2\" or \"4\"?\nhint: give one of 2 or 4");
}

TEST_F(Assign, AllProblemsAreReportedTogether) {
  Value settings;
  settings["frames"] = 0;
  settings["edge"] = "away";
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { fields.assign_all(settings, "a.json"); }),
            "error: 2 settings in a.json cannot be used\n"
            "  - frames in a.json: 0 is below the smallest allowed value, 1 frames\n"
            "  - edge in a.json: unknown word \"away\"\n    hint: give one of keep or drop");
}

TEST(Fields, TextsOfAForm) {
  std::string list;
  std::vector<std::string> lists;
  Fields fields;
  fields.add("nu_v", list, {.check = require_numbers});
  fields.add("each", lists, {.check = require_numbers});
  fields.assign_text("nu_v", "1e-3, 2", "--nu-v");
  fields.assign_text("nu_v", "", "--nu-v");  // says nothing, which is allowed
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { fields.assign_text("nu_v", "1e-3;2", "--nu-v"); }),
            "error: --nu-v \"1e-3;2\": expected numbers with commas between");
  Value words = Value::list();
  words.push_back("a");
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { fields.assign("nu_v", words, "run.toml line 2"); }),
            "error: nu_v in run.toml line 2 \"a\": expected numbers with commas between");
  error_of(ErrorKind::usage, [&] { fields.assign("each", words, ""); });
  EXPECT_TRUE(lists.empty());
}

TEST(Fields, WhatAFileSaysWrongMakesABadFile) {
  const auto both = [] {
    throw Error::several("two settings", {Error(ErrorKind::usage, "a").hint("b"), Error(ErrorKind::usage, "c")});
  };
  EXPECT_EQ(error_of(ErrorKind::bad_file, [&] { take_from_file([&] { during("reading", both); }); }),
            "error: two settings\n  - a\n    hint: b\n  - c\nwhile: reading");
  error_of(ErrorKind::io, [] { take_from_file([] { throw Error(ErrorKind::io, "a"); }); });
  Value unknown;
  unknown["det_bim"] = 2;
  EXPECT_EQ(error_of(ErrorKind::bad_file, [&] { (void)options_from<testing::ExampleOptions>(unknown, "a.json"); }),
            "error: unknown key \"det_bim\" in a.json; did you mean \"det_bin\"?");
}

TEST_F(Assign, EchoReadsBackAsTheSameOptions) {
  fields.assign_text("voltage", "299.99999999999994", "--voltage");
  fields.assign_text("memory", "3G", "--memory");
  fields.assign_text("edge", "drop", "--edge");
  fields.assign_text("detector", "annulus:0,0,3,5", "--detector");
  const auto copy = options_from<ExampleOptions>(fields.echo(), "echo");
  ExampleOptions other = copy;
  EXPECT_EQ(Fields(other).echo(), fields.echo());
  EXPECT_EQ(copy.voltage, 299.99999999999994);
}

TEST(Fields, EchoHoldsEveryFieldWithItsType) {
  ExampleOptions options;
  const Value echo = Fields(options).echo();
  EXPECT_EQ(echo.size(), 14u);
  EXPECT_EQ(*echo.find("det_bin"), Value("1"));
  EXPECT_EQ(*echo.find("block"), Value(1 << 20));
  EXPECT_TRUE(echo.find("voltage")->is_null());
  EXPECT_EQ(*echo.find("edge"), Value("keep"));
}

TEST(Fields, OriginTellsWhoSetAValue) {
  ExampleOptions options;
  Fields fields(options);
  EXPECT_EQ(fields.find("dose")->origin, Origin::built_in);
  fields.assign("dose", 1, "run.toml line 1", Origin::file);
  EXPECT_EQ(fields.find("dose")->origin, Origin::file);
  fields.assign_text("dose", "2", "--dose");
  EXPECT_EQ(fields.find("dose")->origin, Origin::caller);
}

TEST(Fields, DescribingAKeyTwiceIsAnInternalError) {
  ExampleOptions options;
  Fields fields(options);
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { fields.add("center", options.dose); }),
            "error: field \"center\" is described twice");
}

}  // namespace
}  // namespace sonde
