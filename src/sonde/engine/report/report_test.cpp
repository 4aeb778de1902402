// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sonde/engine/report/json.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(Report, HoldsEveryMemberOfTheSchema) {
  const Report report("stem load");
  const Value value = report.to_value();
  std::vector<std::string> keys;
  for (const auto& member : value.members()) keys.push_back(member.key);
  EXPECT_THAT(keys, ::testing::ElementsAre("schema", "command", "version", "revision", "status", "host", "device",
                                           "build", "options", "choices", "phases", "total_s", "memory", "checks",
                                           "messages", "results"));
  EXPECT_EQ(value.find("schema")->as_text(), "sonde.report/1");
  EXPECT_GT(value.find("memory")->find("peak_rss_bytes")->as_whole(), 0);
  EXPECT_GT(value.find("host")->find("cores")->as_whole(), 0);
}

TEST(Report, TheFirstCallIsNotPartOfTheSteadyState) {
  Report report("test");
  for (int i = 0; i < 5; ++i) (void)report.phase("iterate");
  const Value phases = *report.to_value().find("phases");
  ASSERT_EQ(phases.size(), 1u);
  const Value& iterate = phases.items().front();
  EXPECT_EQ(iterate.find("calls")->as_whole(), 5);
  EXPECT_EQ(iterate.find("steady_s")->find("samples")->as_whole(), 4);
  EXPECT_GE(iterate.find("first_s")->as_real(), 0);
}

TEST(Report, OneCallHasNoSteadyState) {
  Report report("test");
  report.phase("load").end();
  EXPECT_EQ(report.to_value().find("phases")->items().front().find("steady_s"), nullptr);
}

TEST(Report, PhasesNest) {
  Report report("test");
  {
    auto load = report.phase("load");
    { auto decode = report.phase("decode"); }
    { auto bin = report.phase("bin"); }
  }
  auto image = report.phase("image");
  image.end();
  const Value phases = *report.to_value().find("phases");
  ASSERT_EQ(phases.size(), 2u);
  const Value* inner = phases.items()[0].find("phases");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->items()[0].find("name")->as_text(), "decode");
  EXPECT_EQ(inner->items()[1].find("name")->as_text(), "bin");
  EXPECT_EQ(phases.items()[1].find("name")->as_text(), "image");
}

TEST(Report, AnExceptionEndsThePhasesItPasses) {
  Report report("test");
  try {
    auto outer = report.phase("outer");
    auto inner = report.phase("inner");
    throw 1;
  } catch (int) {
  }
  report.phase("after").end();
  EXPECT_EQ(report.to_value().find("phases")->size(), 2u);
}

TEST(Report, PreparationIsKeptApart) {
  Report report("test");
  auto phase = report.phase("plan");
  phase.prepared();
  phase.end();
  EXPECT_GT(report.to_value().find("phases")->items().front().find("prepare_s")->as_real(), 0);
}

TEST(Report, BytesAndOperationsAreThoseOfOneCall) {
  Report report("test");
  for (int i = 0; i < 4; ++i) {
    auto phase = report.phase("read");
    phase.add_bytes(50, Traffic::disk);
    phase.add_bytes(50, Traffic::disk);
    phase.add_bytes(1, Traffic::memory);
    phase.add_flops(10);
  }
  const Value phase = report.to_value().find("phases")->items().front();
  EXPECT_EQ(phase.find("bytes")->as_real(), 100);
  EXPECT_EQ(phase.find("traffic")->as_text(), "disk");
  EXPECT_EQ(phase.find("flops")->as_real(), 10);
  EXPECT_EQ(phase.find("bandwidth_fraction"), nullptr);  // the machine was not measured
}

TEST(Report, RatesBecomeFractionsOfTheMachine) {
  Report report("test");
  report.set_machine({.memory_bytes_per_s = 1e9, .flops_per_s = 2e9});
  {
    auto phase = report.phase("sum");
    phase.add_bytes(1e6);
    phase.add_flops(3e6);
  }
  const Value phase = report.to_value().find("phases")->items().front();
  const double seconds = phase.find("first_s")->as_real();
  EXPECT_DOUBLE_EQ(phase.find("bandwidth_fraction")->as_real(), 1e6 / seconds / 1e9);
  EXPECT_DOUBLE_EQ(phase.find("flops_fraction")->as_real(), 3e6 / seconds / 2e9);
}

TEST(Report, ChecksPassWithinTheirTolerance) {
  Report report("test");
  EXPECT_TRUE(report.check("parallel equals serial", -1e-6, 1e-6));
  EXPECT_TRUE(report.all_checks_pass());
  EXPECT_FALSE(report.check("not a number", std::nan(""), 1));
  EXPECT_FALSE(report.all_checks_pass());
  EXPECT_EQ(report.to_value().find("checks")->items()[0].find("pass")->as_bool(), true);
}

TEST(Report, ChoicesCarryTheirReason) {
  Report report("test");
  report.add_choice("batch", Choice<Index>{64, "all fit"});
  EXPECT_EQ(to_json(*report.to_value().find("choices"), -1), R"([{"what":"batch","value":64,"because":"all fit"}])");
}

TEST(Report, AFailureIsRecorded) {
  Report report("test");
  report.set_failed("a.h5: short");
  EXPECT_EQ(report.to_value().find("status")->as_text(), "failed");
  EXPECT_EQ(report.to_value().find("error")->as_text(), "a.h5: short");
}

TEST(Report, IsWrittenAndReadBack) {
  const testing::TemporaryFolder folder;
  Report report("test");
  report.results()["frames"] = 7;
  report.set_memory_limit("host", 1000, "--memory");
  report.write(folder.file("run.json"));
  const Value read = read_report(folder.file("run.json"));
  EXPECT_EQ(read.find("results")->find("frames")->as_whole(), 7);
  EXPECT_EQ(read.find("memory")->find("limits")->find("host")->find("because")->as_text(), "--memory");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);  // no temporary is left
}

TEST(Report, AFolderThatIsNotThereIsAnIoError) {
  EXPECT_THAT(testing::error_of(ErrorKind::io, [] { Report("test").write("/nowhere/run.json"); }),
              ::testing::AllOf(HasSubstr("/nowhere/run.json"), HasSubstr("\nwhile: writing the report\n")));
}

TEST(Report, ForeignJsonIsNotAReport) {
  const testing::TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    testing::write_bytes(folder.file("x.json"), {text.begin(), text.end()});
    return testing::error_of(ErrorKind::bad_file, [&] { (void)read_report(folder.file("x.json")); });
  };
  EXPECT_THAT(refused("[1]"), HasSubstr("JSON, but not a report: it has no \"schema\""));
  EXPECT_THAT(refused("{\"schema\": \"sonde.report/9\"}"),
              HasSubstr("schema \"sonde.report/9\", expected \"sonde.report/1\""));
}

TEST(Report, TextShowsPhasesChoicesAndChecks) {
  Report report("stem load");
  report.add_choice("device", "cpu", "asked for");
  {
    auto load = report.phase("load");
    auto decode = report.phase("decode");
    decode.add_bytes(1e6);
  }
  report.check("equal", 2, 1);
  report.results()["frames"] = 7;
  const std::string text = report.to_text();
  EXPECT_THAT(text, HasSubstr("stem load: ok"));
  EXPECT_THAT(text, HasSubstr("  device: cpu (asked for)\n"));
  EXPECT_THAT(text, HasSubstr("\n  decode "));
  EXPECT_THAT(text, HasSubstr("  FAIL equal: 2 (tolerance 1)\n"));
  EXPECT_THAT(text, HasSubstr("  frames: 7\n"));
}

TEST(Report, TextOfAForeignTreeDoesNotFail) {
  EXPECT_NO_THROW((void)report_text(parse_json(R"({"phases": [1, {"name": 2}], "choices": [3], "checks": [4]})", "x")));
}

TEST(Report, HoldsSettingsOfAFileMessagesAndTheWholeTime) {
  Report report("x");
  report.set_options(Value::object());
  report.add_options("run_file", parse_json(R"({"grid": {"n_xi": 60}})", "x"));
  report.add_message("warning", "careful");
  { const auto phase = report.phase("work"); }
  const Value value = report.to_value();
  EXPECT_EQ(value.find("options")->find("run_file")->find("grid")->find("n_xi")->as_whole(), 60);
  EXPECT_EQ(text_at(value.find("messages")->items()[0], "text"), "careful");
  EXPECT_GE(number_at(value, "total_s"), number_at(value.find("phases")->items()[0], "first_s"));
}

}  // namespace
}  // namespace sonde
