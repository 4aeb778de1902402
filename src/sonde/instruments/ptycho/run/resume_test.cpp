// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/test_scan.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using ::sonde::testing::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A checkpoint after three iterations: one of the first engine, two of the second.
class Resume : public ::testing::Test {
 protected:
  Resume()
      : scan_(1e4,
              "[[engine]]\nname = \"gd\"\niterations = 1\n[[engine]]\nname = \"rpie\"\niterations = 4\n"
              "[[constraint]]\nname = \"probe_power\"\n[stop]\nrule = \"off\"\n") {
    Job job(scan_.run, scan_.measured(), plan_job(scan_.run, scan_.source));
    write(job, 3, path_);
    while (job.reconstruction().outcome().kind == Outcome::Kind::running) job.reconstruction().iterate();
    write(job, 0, ended_);
  }
  void write(Job& job, int iterations, const std::string& path) {
    for (int n = 0; n < iterations; ++n) job.reconstruction().iterate();
    CheckpointWriter writer(path, checkpoint_kind(), 3, scan_.run.text());
    job.reconstruction().save(writer);
    writer.finish();
  }
  [[nodiscard]] std::string refused(const std::vector<std::string>& changes) const {
    return error_of(ErrorKind::usage, [&] { (void)taken(changes); });
  }
  std::unique_ptr<RunFile> taken(const std::vector<std::string>& changes) const {
    const CheckpointReader checkpoint(path_, checkpoint_kind());
    auto run = std::make_unique<RunFile>();
    settings_of(checkpoint, changes, *run);
    return run;
  }
  [[nodiscard]] std::size_t iterations_after(const std::string& path, const std::vector<std::string>& changes) const {
    const CheckpointReader checkpoint(path, checkpoint_kind());
    RunFile run;
    settings_of(checkpoint, changes, run);
    Job job(run, scan_.measured(), plan_job(run, scan_.source), &checkpoint);
    while (job.reconstruction().outcome().kind == Outcome::Kind::running) job.reconstruction().iterate();
    return job.reconstruction().history().size();
  }

  ::sonde::testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("half.h5"), ended_ = folder_.file("ended.h5");
  testing::SmallScan scan_;
};

TEST_F(Resume, TakesWhatCountsFromNowOn) {
  const auto run =
      taken({"engine.1.iterations=9", "engine.1.step_object=0.2", "constraint.0.every=3", "stop.rule=relative",
             "output.file=other.h5", "data.file=moved.h5", "compute.scratch=/tmp", "probe.start=5"});
  const Schedule schedule = run->schedule();
  EXPECT_EQ(schedule.engines[1].iterations, 9);
  EXPECT_EQ(schedule.constraints[0].setup->when.every, 3);
  EXPECT_EQ(schedule.probe_start, 5);
  EXPECT_EQ(run->output.file, "other.h5");
  EXPECT_EQ(run->data.file, "moved.h5");
  EXPECT_EQ(iterations_after(path_, {"engine.1.iterations=9"}), 10u);
}

TEST_F(Resume, RefusesByNameWhatTheCheckpointHasFixed) {
  for (const char* setting : {"probe.modes=3", "object.slices=2", "geometry.energy_keV=80", "compute.precision=f64",
                              "compute.seed=9", "data.holdout=0.3", "positions.method=gradient",
                              "positions.max_move_px=9", "opr.modes=1", "multi_start.starts=4", "direct.wiener=0.5"}) {
    const std::string text(setting);
    EXPECT_THAT(refused({text}), HasSubstr(text.substr(0, text.find('=')) + " cannot change at a resume"));
  }
  EXPECT_THAT(refused({"probe.modes=3", "object.slices=2"}),
              AllOf(HasSubstr("probe.modes"), HasSubstr("object.slices")));
  EXPECT_NO_THROW((void)taken({"probe.modes=1"})) << "as it is";
}

TEST_F(Resume, RefusesWhatIsOver) {
  EXPECT_THAT(refused({"engine.0.iterations=50"}), HasSubstr("the checkpoint is in engine 1 already"));
  EXPECT_THAT(refused({"engine.1.iterations=1"}), HasSubstr("2 are done"));
  EXPECT_NO_THROW((void)taken({"engine.1.iterations=2"}));
}

TEST_F(Resume, OfARunThatWasAtItsEndGoesOnWithMoreIterations) {
  EXPECT_EQ(iterations_after(ended_, {}), 5u);
  EXPECT_EQ(iterations_after(ended_, {"engine.1.iterations=6"}), 7u);
}

/// Whoever adds a key decides whether it may change: what nobody has decided is refused.
TEST_F(Resume, HasAnAnswerForEveryKey) {
  const std::set<std::string> free{
      "data.file",           "data.storage",          "data.tier",         "probe.start",     "object.start",
      "positions.start",     "positions.every",       "positions.stop",    "positions.step",  "positions.trials",
      "positions.radius_px", "positions.max_step_px", "opr.start",         "opr.every",       "opr.relax",
      "opr.constant_power",  "compute.waves",         "compute.wave_tier", "compute.scratch", "multi_start.at_once"};
  for (const Tables::Table& table : scan_.run.tables().all()) {
    if (table.list || table.name == "stop" || table.name == "quality" || table.name == "output") continue;
    for (const Field& field : table.items[0].fields.all()) {
      const std::string key = table.name + "." + field.key;
      SCOPED_TRACE(key);
      // Another value that the key can have.
      std::vector<std::string> others = field.choices;
      for (const char* other : {"true", "false", "2", "3", "0.5", "a text"}) others.emplace_back(other);
      bool changed = false;
      for (const std::string& other : others) {
        RunFile trial;
        trial.parse(scan_.run.text(), "run.toml");
        try {
          trial.tables().assign_text(key + "=" + other);
        } catch (const Error&) {
          continue;
        }
        if (trial.text() == scan_.run.text()) continue;
        changed = true;
        if (free.contains(key))
          EXPECT_NO_THROW((void)taken({key + "=" + other}));
        else
          EXPECT_THAT(refused({key + "=" + other}), HasSubstr(key + " cannot change at a resume"));
        break;
      }
      EXPECT_TRUE(changed) << "the test knows no value for it";
    }
  }
}

}  // namespace
}  // namespace sonde::ptycho
