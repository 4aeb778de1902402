// SPDX-License-Identifier: Apache-2.0
// Settings that become others while a run works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "sonde/engine/options/changeable.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/multi_start.h"
#include "sonde/instruments/ptycho/run/test_scan.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using ::sonde::testing::error_of;
using ::testing::HasSubstr;
using testing::SmallScan;

SmallScan scan_of(const std::string& engine) {
  return SmallScan(1e4, "[[engine]]\nname = \"" + engine +
                            "\"\niterations = 4\n[[constraint]]\nname = \"tv\"\nweight = 0.01\n[stop]\nrule = "
                            "\"off\"\n");
}

void iterate(Job& job, int count) {
  for (int i = 0; i < count; ++i) (void)job.reconstruction().iterate();
}

std::vector<complex64> object_of(Job& job) {
  const Array& object = job.reconstruction().state().object;
  const auto* elements = static_cast<const complex64*>(object.data());
  return {elements, elements + object.count()};
}

/// An engine, and one of its settings with another value.
struct Other {
  const char *engine, *setting;
  double value;
};

class ChangedSetting : public ::testing::TestWithParam<Other> {
 protected:
  ::sonde::testing::TemporaryFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(
    Engines, ChangedSetting,
    ::testing::Values(Other{"rpie", "engine.0.step_object", 0.1}, Other{"gd", "engine.0.step", 0.1},
                      Other{"adam", "engine.0.rate_object", 0.001}, Other{"lsqml", "engine.0.relax", 0.2},
                      Other{"ml", "engine.0.probe_scale", 0.3}, Other{"dm", "engine.0.alpha", 0.5},
                      Other{"raar", "engine.0.relax", 0.5}, Other{"gd", "constraint.0.weight", 0.002}),
    [](const auto& one) { return std::string(one.param.engine) + (one.param.setting[0] == 'c' ? "_constraint" : ""); });

TEST_P(ChangedSetting, CountsAsItDoesAfterACheckpointThatResumesWithIt) {
  const Other& other = GetParam();
  const std::string path = folder_.file("half.ckpt.h5");
  SmallScan scan = scan_of(other.engine);
  Job job(scan.run, scan.measured(), plan_job(scan.run, scan.source));
  iterate(job, 2);
  job.change(scan.run, other.setting, Value(other.value));
  CheckpointWriter writer(path, checkpoint_kind(), 2, scan.run.text());
  job.save(writer);
  writer.finish();
  iterate(job, 2);

  const CheckpointReader checkpoint(path, checkpoint_kind());
  RunFile resumed;
  resumed.parse(checkpoint.options(), path);
  EXPECT_EQ(changeable_value(resumed.tables(), other.setting), Value(other.value));
  Job again(resumed, scan.measured(), plan_job(resumed, scan.source), &checkpoint);
  EXPECT_EQ(again.changes(), job.changes());
  iterate(again, 2);
  EXPECT_EQ(object_of(again), object_of(job));

  SmallScan same = scan_of(other.engine);
  Job unchanged(same.run, same.measured(), plan_job(same.run, same.source));
  iterate(unchanged, 4);
  EXPECT_NE(object_of(unchanged), object_of(job)) << "the setting has no effect here";
}

TEST(Changes, AreRememberedAndToldInTheResult) {
  SmallScan scan = scan_of("gd");
  Job job(scan.run, scan.measured(), plan_job(scan.run, scan.source));
  iterate(job, 1);
  job.change(scan.run, "engine.0.step", Value(0.25));
  job.change(scan.run, "engine.0.step", Value(0.25));  // as it is
  iterate(job, 1);
  job.change(scan.run, "constraint.0.weight", Value(0.0));
  const std::vector<Change> expected = {{1, "engine.0.step", Value(0.5), Value(0.25)},
                                        {2, "constraint.0.weight", Value(0.01), Value(0.0)}};
  EXPECT_EQ(job.changes(), expected);
  const Result result = job.result(scan.run);
  EXPECT_EQ(changes_of(*result.diagnostics.find("changes")), expected);
  EXPECT_THAT(result.settings, HasSubstr("step = 0.25"));
  EXPECT_EQ(in_words(expected[0]), "engine.0.step from 0.5 to 0.25");
}

TEST(Changes, WhatCannotBeImposedChangesNothing) {
  SmallScan scan(1e4,
                 "[[engine]]\nname = \"gd\"\n[[constraint]]\nname = \"bounds\"\nphase_min = -1.0\nphase_max = 1.0\n");
  Job job(scan.run, scan.measured(), plan_job(scan.run, scan.source));
  iterate(job, 1);
  EXPECT_NE(error_of(ErrorKind::bad_input, [&] { job.change(scan.run, "constraint.0.phase_min", Value(2.0)); }), "");
  EXPECT_EQ(changeable_value(scan.run.tables(), "constraint.0.phase_min"), Value(-1.0));
  EXPECT_TRUE(job.changes().empty());
  iterate(job, 1);
}

TEST(Changes, ARestartIsARunOfItsOwnWithTheSettingsOfNow) {
  SmallScan scan = scan_of("dm");
  Job job(scan.run, scan.measured(), plan_job(scan.run, scan.source));
  iterate(job, 2);
  job.change(scan.run, "engine.0.alpha", Value(0.5));
  iterate(job, 1);
  job.restart(scan.run);
  EXPECT_TRUE(job.reconstruction().history().empty());
  iterate(job, 2);

  SmallScan other = scan_of("dm");
  set_changeable(other.run.tables(), "engine.0.alpha", Value(0.5));
  Job own(other.run, other.measured(), plan_job(other.run, other.source));
  iterate(own, 2);
  EXPECT_EQ(object_of(job), object_of(own));
  ASSERT_EQ(job.changes().size(), 2u);
  EXPECT_TRUE(job.changes()[1].restart());
  EXPECT_EQ(job.changes()[1].after, 3);
  EXPECT_EQ(changes_of(to_value(job.changes())), job.changes());
  EXPECT_EQ(in_words(job.changes()[1]), "began again");
}

TEST(Changes, ARestartBeginsWithTheStartThatWasChosen) {
  SmallScan scan(
      1e4,
      "[object]\ninit = \"random\"\nrandom_phase = 1\n[[engine]]\nname = \"gd\"\niterations = 4\n[multi_start]\n"
      "starts = 3\niterations = 1\n[stop]\nrule = \"off\"\n");
  Job job(scan.run, scan.measured(), plan_job(scan.run, scan.source));
  Index chosen = 0;
  for (const StartOutcome& outcome : choose_start(job, scan.run))
    if (outcome.chosen) chosen = outcome.start;
  iterate(job, 1);
  const std::vector<complex64> before = object_of(job);
  job.restart(scan.run);
  iterate(job, 2);
  EXPECT_EQ(object_of(job), before) << "of start " << chosen;
}

TEST(Changes, OnlyStepsAndWeightsCanAndOnlyWithinTheirLimits) {
  SmallScan scan = scan_of("epie");
  for (const char* fixed : {"engine.0.support", "engine.0.order", "engine.0.iterations", "constraint.0.rounds",
                            "probe.modes", "engine.1.step_object", "nonsense"})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { set_changeable(scan.run.tables(), fixed, Value(1.0)); }),
                HasSubstr("\"" + std::string(fixed) + "\" cannot change while the work runs"));
  EXPECT_THAT(
      error_of(ErrorKind::usage, [&] { set_changeable(scan.run.tables(), "engine.0.step_object", Value(3.0)); }),
      HasSubstr("step_object in engine.0: 3 is above"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { set_changeable(scan.run.tables(), "engine.0.step_object", Value()); }),
              HasSubstr("engine.0.step_object needs a number"));
  EXPECT_NE(
      error_of(ErrorKind::usage, [&] { set_changeable(scan.run.tables(), "engine.0.step_object", Value("fast")); }),
      "");
  EXPECT_EQ(changeable_value(scan.run.tables(), "engine.0.step_object"), Value(0.5));
}

TEST(Changes, EveryRealNumberOfEnginesAndConstraintsIsMarkedButWhatDecidesSizes) {
  RunFile run;
  for (const char* list : {"engine", "constraint"}) {
    for (const std::string& kind : std::vector(run.tables().find(list)->kinds)) {
      const auto item = static_cast<std::size_t>(run.tables().append(list, kind, list));
      for (const Field& field : run.tables().find(list)->items[item].fields.all())
        EXPECT_EQ(field.info.changeable, field.type == FieldType::real && field.key != "support")
            << kind << " " << field.key;
    }
  }
}

TEST(Changes, SettingsAreToldWithTheirLimits) {
  const SmallScan scan = scan_of("gd");
  const Value settings = changeable_settings(scan.run.tables());
  std::vector<std::string> names;
  for (const Value& one : settings.items()) names.push_back(one.find("setting")->as_text());
  EXPECT_THAT(names,
              ::testing::ElementsAre("engine.0.step", "engine.0.g", "constraint.0.weight", "constraint.0.tolerance"));
  const Value& step = settings.items().front();
  EXPECT_EQ(*step.find("value"), Value(0.5));
  EXPECT_EQ(step.find("max")->as_real(), 2);
  EXPECT_EQ(step.find("of")->as_text(), "gd");
  EXPECT_TRUE(settings.items()[2].find("max")->is_null());
}

}  // namespace
}  // namespace sonde::ptycho
