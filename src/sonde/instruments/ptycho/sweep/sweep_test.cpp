// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sonde/instruments/ptycho/run/test_scan.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/interrupts.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;
using testing::SmallScan;

const char* const run_text =
    "[data]\nholdout = 0.2\n[[engine]]\nname = \"gd\"\niterations = 12\n[stop]\nrule = \"off\"\n";

/// Steps of gd from far too short to sensible; `more` are settings of [sweep].
void parse(SweepFile& file, const std::string& folder, const std::string& more = "") {
  file.parse("[sweep]\noutput = \"" + folder + "\"\n" + more +
                 "[[vary]]\nname = \"values\"\nsetting = \"engine.0.step\"\nvalues = [\"0.5\", \"0.001\", \"0.05\"]\n",
             "sweep.toml");
}

TEST(Sweep, ASettingWithoutEffectIsSaid) {
  const TemporaryFolder folder;
  const SmallScan scan(1e5, run_text);
  SweepFile file;
  file.parse("[sweep]\noutput = \"" + folder.path().string() +
                 "\"\n[[vary]]\nname = \"values\"\nsetting = \"probe.fwhm\"\nvalues = [\"3\", \"4\"]\n",
             "sweep.toml");
  const Sweep sweep(file, scan.run, scan.measured());
  EXPECT_THAT(sweep.warnings(), ::testing::ElementsAre(HasSubstr("[probe] fwhm = 3 has no effect"),
                                                       HasSubstr("[probe] fwhm = 4 has no effect")));
}

TEST(Sweep, RanksByTheFramesThatWereHeldOut) {
  const TemporaryFolder folder;
  const SmallScan scan(1e5, run_text);
  SweepFile file;
  parse(file, folder.path().string());
  Sweep sweep(file, scan.run, scan.measured());
  Index told = 0;
  sweep.run([&](const TrialRecord& record) {
    ++told;
    EXPECT_EQ(record.iterations, 12);
    EXPECT_TRUE(record.r_free.has_value());
  });
  EXPECT_EQ(told, 3);
  // In so few iterations longer steps get further.
  EXPECT_THAT(ranking(sweep.trials()), ::testing::ElementsAre(0, 2, 1));
  EXPECT_THAT(sweep.run_file(0), HasSubstr("step = 0.5"));
}

TEST(Sweep, ATrialIsTheRunOfItsRunFile) {
  const TemporaryFolder folder;
  const SmallScan scan(1e5, run_text);
  SweepFile file;
  parse(file, folder.path().string());
  Sweep sweep(file, scan.run, scan.measured());
  sweep.run([](const TrialRecord&) {});
  RunFile alone;
  alone.parse(sweep.run_file(2), "alone");
  Job job(alone, scan.source, plan_job(alone, scan.source));
  while (job.reconstruction().outcome().kind == Outcome::Kind::running) (void)job.reconstruction().iterate();
  EXPECT_EQ(*job.reconstruction().history().back().r_free, *sweep.trials()[2].r_free);
}

TEST(Sweep, HalvingGoesOnWithTheBestAsIfThereHadBeenNoBreak) {
  const TemporaryFolder folder, other;
  const SmallScan scan(1e5, run_text);
  SweepFile file, whole;
  parse(file, folder.path().string(), "halving = true\nfirst = 4\nkeep_one_of = 3\n");
  parse(whole, other.path().string());
  Sweep sweep(file, scan.run, scan.measured()), reference(whole, scan.run, scan.measured());
  sweep.run([](const TrialRecord&) {});
  reference.run([](const TrialRecord&) {});
  ASSERT_EQ(sweep.rounds().size(), 2u);
  EXPECT_EQ(sweep.trials()[0].iterations, 12);
  EXPECT_EQ(sweep.trials()[1].iterations, 4);
  EXPECT_EQ(sweep.trials()[1].outcome, "dropped");
  EXPECT_EQ(*sweep.trials()[0].r_free, *reference.trials()[0].r_free);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_NE(entry.path().extension(), ".h5") << "a checkpoint was left: " << entry.path();
}

TEST(Sweep, GoesOnWhereItWasInterrupted) {
  const TemporaryFolder folder;
  const SmallScan scan(1e5, run_text);
  SweepFile file;
  parse(file, folder.path().string(), "halving = true\nfirst = 4\n");
  Index first = 0, second = 0;
  {
    Sweep sweep(file, scan.run, scan.measured());
    EXPECT_THROW(sweep.run([&](const TrialRecord&) {
      if (++first == 2) throw Error(ErrorKind::interrupted, "the test says so");
    }),
                 Error);
  }
  Sweep sweep(file, scan.run, scan.measured());
  EXPECT_EQ(sweep.trials()[0].iterations, 4);
  sweep.run([&](const TrialRecord&) { ++second; });
  EXPECT_EQ(first + second, 4);  // three in the first round, one in the second
  Sweep over(file, scan.run, scan.measured());
  over.run([](const TrialRecord&) { FAIL() << "everything is done"; });
}

TEST(Sweep, StopsInTheMiddleOfATrial) {
  const TemporaryFolder folder;
  const SmallScan scan(1e5, run_text);
  SweepFile file;
  parse(file, folder.path().string());
  Sweep sweep(file, scan.run, scan.measured());
  Index told = 0;
  // A trial goes through its hundred patterns in each of twelve iterations.
  const sonde::testing::InterruptAt request(2000);
  (void)sonde::testing::error_of(ErrorKind::interrupted, [&] { sweep.run([&](const TrialRecord&) { ++told; }); });
  EXPECT_LE(request.looks(), 2000 + thread_count());
  EXPECT_EQ(told, 1);
  EXPECT_EQ(sweep.trials()[1].outcome, "");
}

TEST(Sweep, AFolderOfAnotherSweepIsLeftAlone) {
  const TemporaryFolder folder;
  const SmallScan scan(1e5, run_text), other(1e5, std::string(run_text) + "[compute]\nseed = 5\n");
  SweepFile file;
  parse(file, folder.path().string());
  Sweep(file, scan.run, scan.measured()).run([](const TrialRecord&) {});
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { Sweep(file, other.run, other.measured()); }),
              HasSubstr("is of another sweep"));
}

TEST(Sweep, SettingsThatDoNotFitAreSaidBeforeAnyWork) {
  const TemporaryFolder folder;
  const SmallScan scan(1e5, run_text);
  SweepFile file;
  file.parse("[sweep]\noutput = \"" + folder.file("new") +
                 "\"\n[[vary]]\nname = \"values\"\nsetting = \"probe.mods\"\nvalues = [1, 2]\n",
             "sweep.toml");
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { Sweep(file, scan.run, scan.measured()); }),
              HasSubstr("did you mean \"modes\""));
  EXPECT_FALSE(std::filesystem::exists(folder.file("new")));
}

}  // namespace
}  // namespace sonde::ptycho
