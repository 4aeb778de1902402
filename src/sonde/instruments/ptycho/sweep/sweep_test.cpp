// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <filesystem>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/json.h"
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

constexpr Index at_once = 1;

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
  sweep.run(at_once, [&](std::size_t, const TrialRecord& record) {
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
  sweep.run(at_once, [](std::size_t, const TrialRecord&) {});
  RunFile alone;
  alone.parse(sweep.run_file(2), "alone");
  Job job(alone, scan.source, plan_job(alone, scan.source));
  while (job.reconstruction().outcome().kind == Outcome::Kind::running) (void)job.reconstruction().iterate();
  EXPECT_EQ(*job.reconstruction().history().back().r_free, *sweep.trials()[2].r_free);
}

/// All that a table of trials says but the seconds.
std::vector<std::string> table_of(Sweep& sweep, Index together) {
  Index told = 0;
  sweep.run(together, [&](std::size_t, const TrialRecord&) { ++told; });
  std::vector<std::string> table{fmt::format("{} told", told)};
  for (const TrialRecord& record : sweep.trials()) {
    Value value = to_value(record);
    value["run"]["seconds"] = 0;
    table.push_back(to_json(value, -1));
  }
  return table;
}

TEST(Sweep, HowManyWorkAtTheSameTimeDoesNotChangeTheTable) {
  set_thread_count(2);
  const TemporaryFolder one_folder, two_folder;
  const SmallScan scan(1e5, std::string(run_text) + "[low_resolution]\niterations = 2\n");
  const auto file_in = [&](SweepFile& file, const TemporaryFolder& folder) {
    // Patterns of two sizes, so that there are several plans of transforms; and two rounds.
    parse(file, folder.path().string(),
          "halving = true\nfirst = 4\n[[vary]]\nname = \"values\"\nsetting = \"object.init\"\nvalues = [\"ones\", "
          "\"low_resolution\"]\n");
  };
  SweepFile one_file, two_file;
  file_in(one_file, one_folder);
  file_in(two_file, two_folder);
  Sweep one(one_file, scan.run, scan.measured()), two(two_file, scan.run, scan.measured());
  EXPECT_EQ(table_of(two, 2), table_of(one, 1));
  for (const TrialRecord& record : one.trials()) EXPECT_NE(record.outcome, "failed") << record.because;
  set_thread_count(0);
}

TEST(Sweep, AsManyWorkAtTheSameTimeAsThreadsAndMemoryAllow) {
  set_thread_count(2);
  const TemporaryFolder folder;
  const SmallScan scan(1e5, run_text);
  const auto chosen = [&](const std::string& more, double memories) {
    SweepFile file;
    parse(file, folder.path().string(), more);
    const Sweep sweep(file, scan.run, scan.measured());
    return sweep.choose_at_once(
        static_cast<std::size_t>(memories * static_cast<double>(sweep.largest().memory.needed_bytes())));
  };
  EXPECT_EQ(chosen("", 2).value, 2);
  EXPECT_EQ(chosen("", 2).because, "one for each of 2 threads");
  EXPECT_EQ(chosen("", 1).value, 1);
  EXPECT_THAT(chosen("", 1).because, HasSubstr("2 need "));
  EXPECT_EQ(chosen("at_once = 1\n", 2).value, 1);
  EXPECT_EQ(chosen("at_once = 1\n", 2).because, "asked for");
  set_thread_count(0);
}

TEST(Sweep, HalvingGoesOnWithTheBestAsIfThereHadBeenNoBreak) {
  const TemporaryFolder folder, other;
  const SmallScan scan(1e5, run_text);
  SweepFile file, whole;
  parse(file, folder.path().string(), "halving = true\nfirst = 4\nkeep_one_of = 3\n");
  parse(whole, other.path().string());
  Sweep sweep(file, scan.run, scan.measured()), reference(whole, scan.run, scan.measured());
  sweep.run(at_once, [](std::size_t, const TrialRecord&) {});
  reference.run(at_once, [](std::size_t, const TrialRecord&) {});
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
    EXPECT_THROW(sweep.run(at_once,
                           [&](std::size_t, const TrialRecord&) {
                             if (++first == 2) throw Error(ErrorKind::interrupted, "the test says so");
                           }),
                 Error);
  }
  Sweep sweep(file, scan.run, scan.measured());
  EXPECT_EQ(sweep.trials()[0].iterations, 4);
  sweep.run(at_once, [&](std::size_t, const TrialRecord&) { ++second; });
  EXPECT_EQ(first + second, 4);  // three in the first round, one in the second
  Sweep over(file, scan.run, scan.measured());
  over.run(at_once, [](std::size_t, const TrialRecord&) { FAIL() << "everything is done"; });
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
  (void)sonde::testing::error_of(ErrorKind::interrupted,
                                 [&] { sweep.run(at_once, [&](std::size_t, const TrialRecord&) { ++told; }); });
  EXPECT_LE(request.looks(), 2000 + thread_count());
  EXPECT_EQ(told, 1);
  EXPECT_EQ(sweep.trials()[1].outcome, "");
}

TEST(Sweep, AFolderOfAnotherSweepIsLeftAlone) {
  const TemporaryFolder folder;
  const SmallScan scan(1e5, run_text), other(1e5, std::string(run_text) + "[compute]\nseed = 5\n");
  SweepFile file;
  parse(file, folder.path().string());
  Sweep(file, scan.run, scan.measured()).run(at_once, [](std::size_t, const TrialRecord&) {});
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
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file, [&] { Sweep(file, scan.run, scan.measured()); }),
              HasSubstr("did you mean \"modes\""));
  EXPECT_FALSE(std::filesystem::exists(folder.file("new")));
}

}  // namespace
}  // namespace sonde::ptycho
