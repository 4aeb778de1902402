// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/options/example_tables.h"
#include "sonde/engine/options/toml.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::ExampleRun;
using ::testing::HasSubstr;

struct Read {
  ExampleRun run;
  Tables tables = run.tables();
  explicit Read(std::string_view text) { parse_toml(text, "run.toml", tables); }
};

std::string refused(std::string_view text) {
  return error_of(ErrorKind::bad_file, [&] { Read read(text); });
}

TEST(Tables, EveryTableOfAFileSetsItsFields) {
  const Read read(
      "[geometry]\nenergy_keV = 300\nshape = [64, 32]\nturned = true\nnotes = [\"a\", \"b\"]\n"
      "[[engine]]\nname = \"fast\"\ngain = 2\n[[engine]]\nname = \"slow\"\niterations = 7\n");
  EXPECT_EQ(read.run.geometry.energy_kev, 300);
  EXPECT_EQ(read.run.geometry.shape, "64,32");
  EXPECT_TRUE(read.run.geometry.turned);
  EXPECT_THAT(read.run.geometry.notes, ElementsAre("a", "b"));
  ASSERT_EQ(read.run.engines.size(), 2u);
  EXPECT_EQ(read.run.engines[0]->gain, 2);
  EXPECT_EQ(read.run.engines[1]->kind, "slow");
  EXPECT_EQ(read.run.engines[1]->iterations, 7);
}

TEST(Tables, UnknownTablesAndKeysNameLineAndNearest) {
  EXPECT_EQ(refused("\n[geometri]\n"),
            "error: unknown table [geometri] in run.toml line 2; did you mean \"geometry\"?");
  EXPECT_EQ(refused("[geometry]\nenergy_kev = 1\n"),
            "error: unknown key \"energy_kev\" in [geometry] of run.toml line 2; did you mean \"energy_keV\"?");
  EXPECT_EQ(refused("[[engine]]\nname = \"slow\"\niteration = 5\n"),
            "error: unknown key \"iteration\" in [engine] of run.toml line 3; did you mean \"iterations\"?");
}

TEST(Tables, UnknownKindsNameLineAndNearest) {
  EXPECT_EQ(refused("[[engine]]\nname = \"fats\"\n"),
            "error: name in run.toml line 2: \"fats\" is not a known engine; did you mean \"fast\"?\nhint: known: fast "
            "and slow");
}

TEST(Tables, KeysOfAnotherKindAreUnknown) {
  EXPECT_THAT(refused("[[engine]]\nname = \"slow\"\ngain = 5\n"), HasSubstr("unknown key \"gain\""));
}

TEST(Tables, ItemsNeedAName) {
  EXPECT_EQ(refused("\n[[engine]]\niterations = 5\n"),
            "error: [[engine]] in run.toml line 2 has no name\nhint: add name = \"fast\"");
}

TEST(Tables, OneTableAndListsAreToldApart) {
  EXPECT_EQ(refused("[engine]\nname = \"fast\"\n"),
            "error: engine in run.toml line 1: expected a list of tables\nhint: begin each with [[engine]]");
  EXPECT_EQ(refused("[[geometry]]\nshape = \"1\"\n"),
            "error: geometry in run.toml line 1: expected one table\nhint: begin it with [geometry]");
}

TEST(Tables, SettingsOutsideOfTablesAreErrors) {
  EXPECT_EQ(refused("iterations = 5\n"),
            "error: \"iterations\" in run.toml line 1 is not in a table\nhint: the tables are geometry and engine");
}

TEST(Tables, WrongValuesNameTableAndLine) {
  EXPECT_EQ(refused("[geometry]\nenergy_keV = \"much\"\n"),
            "error: energy_keV in [geometry] of run.toml line 2: expected a number, found text");
  EXPECT_EQ(refused("[geometry]\nenergy_keV = 0\n"),
            "error: energy_keV in [geometry] of run.toml line 2: 0 is below the smallest allowed value, 1 keV");
  EXPECT_EQ(refused("[geometry]\nshape = 1979-05-27\n"),
            "error: shape in [geometry] of run.toml line 2: a value of this kind is not a setting");
}

TEST(Tables, EveryProblemIsReported) {
  const std::string text = refused("[geometri]\n[geometry]\nenergy_keV = 0\n[[engine]]\nname = \"x\"\n");
  EXPECT_THAT(text, HasSubstr("3 settings in run.toml cannot be used"));
  EXPECT_THAT(text, HasSubstr("[geometri]"));
  EXPECT_THAT(text, HasSubstr("energy_keV"));
  EXPECT_THAT(text, HasSubstr("\"x\" is not a known engine"));
}

TEST(Tables, OneSettingIsChangedByItsPath) {
  Read read("[[engine]]\nname = \"slow\"\n[[engine]]\nname = \"fast\"\n");
  read.tables.assign_text("engine.1.iterations=200");
  read.tables.assign_text("geometry.energy_keV = 80");
  EXPECT_EQ(read.run.engines[0]->iterations, 100);
  EXPECT_EQ(read.run.engines[1]->iterations, 200);
  EXPECT_EQ(read.run.geometry.energy_kev, 80);
}

TEST(Tables, PathsThatLeadNowhereSayWhy) {
  Read read("[[engine]]\nname = \"slow\"\n");
  const auto error = [&](const char* setting) {
    return error_of(ErrorKind::usage, [&] { read.tables.assign_text(setting); });
  };
  EXPECT_EQ(
      error("iterations=5"),
      "error: \"iterations=5\": is not a setting\nhint: write TABLE.KEY=VALUE, or TABLE.0.KEY=VALUE for the first of "
      "a list");
  EXPECT_EQ(error("enigne.0.iterations=5"),
            "error: \"enigne.0.iterations=5\": unknown table [enigne]; did you mean \"engine\"?");
  EXPECT_EQ(error("engine.iterations=5"),
            "error: \"engine.iterations=5\": [[engine]] is a list\nhint: write engine.0.KEY=VALUE");
  EXPECT_EQ(error("geometry.0.shape=5"),
            "error: \"geometry.0.shape=5\": [geometry] is not a list\nhint: write "
            "geometry.KEY=VALUE");
  EXPECT_EQ(error("engine.1.iterations=5"),
            "error: \"engine.1.iterations=5\": there are 1 tables [[engine]], counted from 0");
  EXPECT_EQ(error("engine.0.iteration=5"),
            "error: \"engine.0.iteration=5\": unknown key \"iteration\" in [[engine]] 0 (slow); did you mean "
            "\"iterations\"?");
  EXPECT_EQ(error("geometry.shap=5"),
            "error: \"geometry.shap=5\": unknown key \"shap\" in [geometry]; did you mean \"shape\"?");
  EXPECT_THAT(error("engine.0.energy_keV=5"), HasSubstr("hint: [geometry] has a key of this name"));
  EXPECT_THAT(error("engine.0.energy_kev=5"), HasSubstr("hint: [geometry] has \"energy_keV\""));
  EXPECT_THAT(refused("[[engine]]\nname = \"slow\"\nshape = 5\n"),
              HasSubstr("hint: [geometry] has a key of this name"));
  EXPECT_EQ(error("engine.0.iterations=x"), "error: engine.0.iterations: \"x\" is not a whole number");
  EXPECT_THAT(error("engine.0.name=fast"), HasSubstr("the kind of a table cannot be changed"));
}

TEST(Tables, ObjectsSetWhatFilesSet) {
  const Read read("[geometry]\nenergy_keV = 300\nshape = [64, 32]\n[[engine]]\nname = \"slow\"\niterations = 7\n");
  ExampleRun run;
  Tables tables = run.tables();
  Value given = Value::object();
  given["geometry"]["energy_keV"] = 300;
  given["geometry"]["shape"].push_back(64);
  given["geometry"]["shape"].push_back(32);
  given["geometry"]["step"] = Value();  // as if it were not there
  given["engine"]["name"] = "slow";     // a single one is a list of one
  given["engine"]["iterations"] = 7;
  tables.assign_all(given, "here");
  EXPECT_EQ(tables.echo(), read.tables.echo());
}

TEST(Tables, ObjectsThatFitNothingAreToldTogether) {
  ExampleRun run;
  Tables tables = run.tables();
  Value given = Value::object();
  given["geometri"] = Value::object();
  given["geometry"]["energy_kev"] = 1;
  given["engine"].push_back(Value::object());
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { tables.assign_all(given, "here"); }),
              ::testing::AllOf(HasSubstr("unknown table [geometri] in here; did you mean \"geometry\""),
                               HasSubstr("unknown key \"energy_kev\" in [geometry] of here; did you mean"),
                               HasSubstr("[[engine]] of here has no name")));
}

TEST(Tables, TheTextOfAnEchoReadsBackToIt) {
  const Read read(
      "[geometry]\nenergy_keV = 80.5\nshape = \"a\\\\b \\\"c\\\"\\n\"\nnotes = [\"x\", \"\"]\n"
      "[[engine]]\nname = \"fast\"\ngain = 1e-9\n[[engine]]\nname = \"slow\"\n");
  const std::string text = to_toml(read.tables.echo());
  EXPECT_EQ(Read(text).tables.echo(), read.tables.echo()) << text;
  EXPECT_THAT(text, ::testing::Not(HasSubstr("step")));  // unset
}

TEST(Tables, WholeNumbersOfRealSettingsStayReal) {
  EXPECT_THAT(to_toml(Read("[geometry]\nenergy_keV = 300\n").tables.echo()), HasSubstr("energy_keV = 300.0\n"));
}

TEST(Tables, AFileIsRead) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder.file("run.toml"), {'[', 'g', 'e', 'o', 'm', 'e', 't', 'r', 'y', ']', '\n'});
  ExampleRun run;
  Tables tables = run.tables();
  EXPECT_NO_THROW(read_toml(folder.file("run.toml"), tables));
}

/// A table with a list below it, whose items have no kinds.
struct Staged {
  struct Stage {
    Index iterations = 3;
    void describe(Fields& fields) { fields.add("iterations", iterations, {.help = "how many", .min = 1}); }
  };
  testing::ExampleGeometry geometry;
  std::vector<std::unique_ptr<Stage>> stages;
  Tables tables;

  Staged() {
    tables.add("geometry", Fields(geometry));
    tables.add_list("geometry.stage", {}, [this](const std::string&) {
      stages.push_back(std::make_unique<Stage>());
      return Fields(*stages.back());
    });
  }
  explicit Staged(std::string_view text) : Staged() { parse_toml(text, "run.toml", tables); }
};

const std::string two_stages = "[geometry]\nturned = true\n[[geometry.stage]]\niterations = 7\n[[geometry.stage]]\n";

TEST(Tables, AListMayBePartOfATableAndItsItemsAlike) {
  const Staged read(two_stages);
  EXPECT_TRUE(read.geometry.turned);
  ASSERT_EQ(read.stages.size(), 2u);
  EXPECT_EQ(read.stages[0]->iterations, 7);
  EXPECT_EQ(read.stages[1]->iterations, 3);
}

TEST(Tables, TheTextOfAListInATableReadsBackToIt) {
  const Staged read(two_stages);
  const std::string text = to_toml(read.tables.echo());
  EXPECT_THAT(text, HasSubstr("[[geometry.stage]]\niterations = 7\n"));
  EXPECT_EQ(to_toml(Staged(text).tables.echo()), text);
}

TEST(Tables, ItemsOfAListInATableAreChangedByTheirPath) {
  Staged read(two_stages);
  read.tables.assign_text("geometry.stage.1.iterations=9");
  EXPECT_EQ(read.stages[1]->iterations, 9);
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { read.tables.assign_text("geometry.stage.0.iteration=9"); }),
            "error: \"geometry.stage.0.iteration=9\": unknown key \"iteration\" in [[geometry.stage]] 0; did you mean "
            "\"iterations\"?");
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { read.tables.assign_text("geometry.stage.2.iterations=9"); }),
            "error: \"geometry.stage.2.iterations=9\": there are 2 tables [[geometry.stage]], counted from 0");
}

TEST(Tables, ObjectsHoldAListInATableAsItsMemberOrByItsName) {
  for (const bool member : {true, false}) {
    Value stage = Value::object(), values = Value::object();
    stage["iterations"] = 5;
    values["geometry"]["turned"] = true;
    if (member)
      values["geometry"]["stage"].push_back(stage);
    else
      values["geometry.stage"].push_back(stage);
    Staged read;
    read.tables.assign_all(values, "Run()");
    EXPECT_TRUE(read.geometry.turned);
    ASSERT_EQ(read.stages.size(), 1u);
    EXPECT_EQ(read.stages[0]->iterations, 5);
  }
}

TEST(Tables, UnknownListsInATableNameLineAndNearest) {
  const auto staged_error = [](std::string_view text) {
    return error_of(ErrorKind::bad_file, [&] { Staged read(text); });
  };
  EXPECT_EQ(staged_error("[geometry]\n[[geometry.stages]]\n"),
            "error: unknown table [geometry.stages] in run.toml line 2; did you mean \"geometry.stage\"?");
  EXPECT_EQ(staged_error("[geometry.stage]\niterations = 7\n"),
            "error: geometry.stage in run.toml line 1: expected a list of tables\nhint: begin each with "
            "[[geometry.stage]]");
}

}  // namespace
}  // namespace sonde
