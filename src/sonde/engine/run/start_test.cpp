// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sonde/engine/base/log.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/report.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

struct CountOptions {
  Index to = 3;
  bool fails = false, findings = false, silent = false;
  void describe(Fields& fields) {
    fields.add("to", to, {.help = "last number", .min = 0});
    fields.add("fails", fails, {.help = "ends with an error"});
    fields.add("findings", findings, {.help = "whose results stay"});
    fields.add("silent", silent, {.help = "another process speaks"});
  }
};

void count(const CountOptions& options, Run& run) {
  run.report().add_choice("last", Value(options.to), run.given("to") ? "asked for" : "the default");
  if (run.dry_run()) return;
  if (options.findings) run.keep_results_of_failure();
  for (Index i = 1; i <= options.to; ++i) run.results()["numbers"].push_back(i);
  log_warning("counted");
  if (options.silent) run.be_silent();
  run.say("counted");
  if (options.fails) throw Error(ErrorKind::not_converged, "there is no last number");
}

Verb count_verb() {
  return {.name = "test count", .summary = "Count", .plans = true, .invoke = invocation<CountOptions, count>};
}

/// A verb started with settings; what its door was given.
using Settings = std::vector<std::pair<std::string, std::string>>;

struct Started {
  std::vector<std::string> said;
  std::vector<std::string> results, plans;

  explicit Started(const Settings& settings) {
    const Verb verb = count_verb();
    Prepared prepared(verb);
    for (const auto& [key, value] : settings) prepared.fields.assign_text(key, value, key);
    Door door;
    door.surroundings.say = [this](const std::string& text) { said.push_back(text); };
    door.take_plan = [this](const Report& report) { plans.push_back(to_json(*report.to_value().find("choices"), -1)); };
    door.take_results = [this](const Report& report) { results.push_back(to_json(report.results(), -1)); };
    try {
      start(prepared, door);
    } catch (const Error& thrown) {
      error = thrown.message();
    }
  }
  std::string error;
};

TEST(Start, HandsOutTheResultsOnce) {
  const Started run(Settings{{"to", "2"}});
  EXPECT_EQ(run.error, "");
  EXPECT_THAT(run.said, ElementsAre("counted"));
  ASSERT_EQ(run.results.size(), 1U);
  EXPECT_THAT(run.results[0], HasSubstr("[1,2]"));
  EXPECT_TRUE(run.plans.empty());
}

TEST(Start, ADryRunOnlyPlans) {
  const Started run(Settings{{"to", "2"}, {"dry_run", "true"}});
  EXPECT_TRUE(run.said.empty());
  EXPECT_TRUE(run.results.empty());
  ASSERT_EQ(run.plans.size(), 1U);
  EXPECT_THAT(run.plans[0], HasSubstr("asked for"));
}

TEST(Start, QuietSaysNothing) { EXPECT_TRUE(Started(Settings{{"quiet", "true"}}).said.empty()); }

TEST(Start, FailuresKeepFindingsOnlyWhereTheyAreTheResult) {
  EXPECT_TRUE(Started(Settings{{"fails", "true"}}).results.empty());
  const Started kept(Settings{{"fails", "true"}, {"findings", "true"}});
  EXPECT_EQ(kept.error, "there is no last number");
  EXPECT_EQ(kept.results.size(), 1U);
}

TEST(Start, AnotherProcessSpeaks) {
  const Started run(Settings{{"silent", "true"}});
  EXPECT_TRUE(run.said.empty());
  EXPECT_TRUE(run.results.empty());
}

TEST(Start, WritesTheReportAlsoOfAFailureWithItsWarnings) {
  const TemporaryFolder folder;
  const std::string path = folder.file("report.json");
  EXPECT_EQ(Started(Settings{{"report", path}, {"to", "2"}}).error, "");
  Value report = read_report(path);
  EXPECT_EQ(report.find("status")->as_text(), "ok");
  EXPECT_EQ(report.find("command")->as_text(), "test count");
  EXPECT_EQ(report.find("options")->find("to")->as_whole(), 2);
  EXPECT_EQ(report.find("results")->find("numbers")->size(), 2U);
  ASSERT_EQ(report.find("messages")->size(), 1U);
  EXPECT_EQ(report.find("messages")->items()[0].find("text")->as_text(), "counted");
  EXPECT_EQ(Started(Settings{{"report", path}, {"fails", "true"}}).error, "there is no last number");
  report = read_report(path);
  EXPECT_EQ(report.find("status")->as_text(), "failed");
  EXPECT_EQ(report.find("error")->as_text(), "there is no last number");
}

TEST(Start, AReportReplacesNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.file("precious.json");
  std::ofstream(path) << "mine";
  EXPECT_NE(Started(Settings{{"report", path}}).error, "");
  EXPECT_EQ(std::filesystem::file_size(path), 4U);
}

TEST(Start, WhoTakesTheResultsMayBeGoneAndTheReportIsWrittenAllTheSame) {
  const TemporaryFolder folder;
  const Verb verb = count_verb();
  Prepared prepared(verb);
  prepared.fields.assign_text("report", folder.file("report.json"), "report");
  Door door;
  door.take_results = [](const Report&) { throw std::runtime_error("gone"); };
  EXPECT_THROW(start(prepared, door), std::runtime_error);
  EXPECT_EQ(read_report(folder.file("report.json")).find("status")->as_text(), "ok");
}

TEST(ReadSettings, ComesFromOneFileAndLeavesTheRestToTheCaller) {
  const TemporaryFolder folder;
  const std::string path = folder.file("count.toml");
  std::ofstream(path) << "to = 5\n";
  const Verb verb = count_verb();
  Prepared prepared(verb);
  read_settings(prepared, path, {verb.name});
  EXPECT_EQ(prepared.fields.echo().find("to")->as_whole(), 5);
  prepared.fields.assign_text("to", "7", "--to");
  EXPECT_EQ(prepared.fields.echo().find("to")->as_whole(), 7);
  prepared.fields.assign_text("config", path, "--config");
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { read_settings(prepared, path, {verb.name}); }),
              HasSubstr("named twice"));
}

TEST(Run, WithoutAReaderOfFramesSaysSo) {
  CommonOptions common;
  const Fields fields(common);
  Report report("test");
  const Surroundings nobody;
  sonde::Run alone(common, fields, report, nobody);
  EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { (void)alone.open_frames({.file = "scan.h5"}); }),
              HasSubstr("scan.h5: this build has no 4D-STEM reader"));
  EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { (void)alone.show({}, 0); }), HasSubstr("browser"));
}

}  // namespace
}  // namespace sonde
