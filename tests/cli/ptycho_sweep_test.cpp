// SPDX-License-Identifier: Apache-2.0
// Sweeps as a person starts them: what lands in the folder, and that the best run file is what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/cli/ptycho_scan.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::run;

class PtychoSweep : public testing::OnSmallScan {
 protected:
  /// A sweep over the step of the object; `more` are settings of [sweep].
  [[nodiscard]] std::string sweep_file(const std::string& more = "",
                                       const std::string& setting = "engine.0.step_object") const {
    std::ofstream(file("sweep.toml")) << "[sweep]\nrun = \"run.toml\"\noutput = \"out\"\n"
                                      << more << "[[vary]]\nname = \"values\"\nsetting = \"" << setting
                                      << "\"\nvalues = [0.001, 0.3, 0.05]\n";
    return file("sweep.toml");
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    const auto bytes = testing::read_bytes(file(name));
    return {bytes.begin(), bytes.end()};
  }
};

TEST_F(PtychoSweep, LeavesATableAFigureAndTheBestRunFile) {
  write();
  (void)run_file("[stop]\nrule = \"off\"\n", "", 8);
  const Ended ended = run({"ptycho", "sweep", sweep_file(), "--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value results = parse_json(ended.out, "results");
  const Value& trials = *results.find("trials");
  ASSERT_EQ(trials.size(), 3u);
  double before = 0;
  for (const Value& trial : trials.items()) {
    EXPECT_GE(trial.find("R_free")->as_real(), before);  // 64 frames: 16 of them judge
    before = trial.find("R_free")->as_real();
  }
  EXPECT_EQ(trials.items().back().find("settings")->find("engine.0.step_object")->as_text(), "0.001");
  EXPECT_THAT(text_of("out/sweep.csv"),
              HasSubstr("rank,trial,engine.0.step_object,outcome,iterations,R_I,R_free,seconds\n1,"));
  EXPECT_TRUE(fs::exists(file("out/sweep.gp")));

  // The best settings alone give the same number.
  ASSERT_EQ(run({"ptycho", "run", file("out/best.toml"), "-o", file("best.h5")}).status, 0);
  const Array r_free = Hdf5File::open(file("best.h5")).dataset("/metrics/R_free").read();
  EXPECT_NEAR((r_free.view<double, 1>()(7)), trials.items().front().find("R_free")->as_real(), 1e-6);
}

TEST_F(PtychoSweep, HalvingDropsTheWorst) {
  write();
  (void)run_file("[stop]\nrule = \"off\"\n", "", 8);
  const Ended ended = run({"ptycho", "sweep", sweep_file("halving = true\nfirst = 3\n"), "--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value trials = *parse_json(ended.out, "results").find("trials");
  EXPECT_EQ(trials.items()[0].find("iterations")->as_whole(), 8);
  EXPECT_EQ(trials.items()[2].find("iterations")->as_whole(), 3);
  EXPECT_EQ(trials.items()[2].find("outcome")->as_text(), "dropped");
}

TEST_F(PtychoSweep, ADryRunListsTrialsAndMakesNothing) {
  write();
  (void)run_file();
  const Ended ended = run({"ptycho", "sweep", sweep_file(), "--dry-run"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("3 trials"), HasSubstr("patterns")));
  EXPECT_FALSE(fs::exists(file("out")));
  // No GPU, or none that trials know.
  EXPECT_THAT(run({"ptycho", "sweep", sweep_file(), "--dry-run", "--device", "cuda"}).status, AnyOf(6, 8));
}

TEST_F(PtychoSweep, WrongSettingsNameTheNearest) {
  write();
  (void)run_file();
  const Ended ended = run({"ptycho", "sweep", sweep_file("", "engine.0.step_objekt")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("did you mean \"step_object\""));
  EXPECT_EQ(run({"ptycho", "sweep", sweep_file("", "data.crop")}).status, 3);
}

}  // namespace
}  // namespace sonde
