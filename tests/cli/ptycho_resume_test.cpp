// SPDX-License-Identifier: Apache-2.0
// Reconstructions that are broken off and gone on with: what is left behind, and what a checkpoint gives back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/cli/ptycho_scan.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Ended;
using ::testing::HasSubstr;
using testing::names_in;
using testing::OnSmallScan;
using testing::Program;
using testing::run;

using PtychoRun = OnSmallScan;

TEST_F(PtychoRun, ResumeGoesOnFromACheckpointBitForBit) {
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  write();
  ASSERT_EQ(reconstruct(run_file("", "", 8), {"--set", "output.checkpoint_every=3"}).status, 0);
  const Ended ended = run({"ptycho", "resume", file("result.ckpt.h5"), "-o", file("again.h5")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("continues after iteration 6"));
  EXPECT_EQ(testing::python("import sys, h5py, numpy as np\n"
                            "a, b = (h5py.File(sys.argv[1] + n) for n in ('/result.h5', '/again.h5'))\n"
                            "print([np.array_equal(a[n][()], b[n][()]) for n in ('object', 'probe', 'metrics/R_I')], "
                            "len(b['metrics/R_I']))\n",
                            folder_.path().string()),
            "[True, True, True] 8\n");
  const Ended refused = run({"ptycho", "resume", file("result.ckpt.h5"), "--set", "probe.modes=2", "--set",
                             "object.slices=2", "-o", file("two.h5")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("probe.modes cannot change at a resume"), HasSubstr("object.slices cannot")));
  EXPECT_FALSE(fs::exists(file("two.h5")));
}

TEST_F(PtychoRun, ResumeRefusesWhatIsNoCheckpoint) {
  write();
  ASSERT_EQ(reconstruct(run_file()).status, 0);
  for (const char* name : {"result.h5", "scan.h5", "run.toml", "nothing.h5"}) {
    const Ended ended = run({"ptycho", "resume", file(name)});
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(name));
  }
}

TEST_F(PtychoRun, ACheckpointThatIsCutOffIsRefusedByNameAndChangesNothing) {
  write();
  ASSERT_EQ(reconstruct(run_file("", "", 4), {"--set", "output.checkpoint_every=2"}).status, 0);
  const auto whole = fs::file_size(file("result.ckpt.h5"));
  for (const auto left : {whole - 1, whole / 2, std::uintmax_t{100}, std::uintmax_t{0}}) {
    fs::resize_file(file("result.ckpt.h5"), left);
    const Ended ended = run({"ptycho", "resume", file("result.ckpt.h5"), "-o", file("again.h5")});
    EXPECT_EQ(ended.status, 3) << left << " bytes\n" << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("error: "), HasSubstr("result.ckpt.h5"), HasSubstr("hint: ")));
    EXPECT_FALSE(fs::exists(file("again.h5")));
  }
}

/// Whether a log has more than its head.
bool has_iterations(const std::string& log) {
  std::ifstream file(log);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n') > 1;
}

TEST_F(PtychoRun, AnInterruptedRunWritesWhatItHas) {
  write();
  const Program program({"ptycho", "run", run_file("", "", 1000000), "-o", file("result.h5"), "--log", file("log")});
  while (!has_iterations(file("log"))) usleep(10000);
  kill(program.id(), SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_TRUE(has_result());
}

/// An engine whose one iteration goes on for hours: rounds of object and probe that never agree.
constexpr const char* endless_iteration =
    "[[engine]]\nname = \"dm\"\niterations = 1\nrounds = 1000000000\nprobe_change = 0.0\n"
    "[stop]\nrule = \"off\"\n";

TEST_F(PtychoRun, ATerminatedIterationLeavesTheResultOfTheOneBeforeAndNothingHalfWritten) {
  write();
  const Program program(
      {"ptycho", "run", run_file(endless_iteration, "", 1), "-o", file("result.h5"), "--log", file("log")});
  while (!has_iterations(file("log"))) usleep(10000);  // the first engine is done
  usleep(100000);
  kill(program.id(), SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 143) << ended.err;
  // The estimate of the iteration that was done, whole, and no file under another name.
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("log", "result.h5", "result_amplitude.png", "result_phase.png",
                                                    "result_report.html", "run.toml", "scan.h5"));
}

TEST_F(PtychoRun, AnInterruptInsideAnIterationLeavesTheCheckpointOfTheOneBefore) {
  write();
  const Program program({"ptycho", "run", run_file(endless_iteration, "", 3), "-o", file("result.h5"), "--log",
                         file("log"), "--set", "output.checkpoint_every=1", "--set", "output.pictures=false"});
  const auto lines = [&] {
    std::ifstream log(file("log"));
    const auto all = std::count(std::istreambuf_iterator<char>(log), {}, '\n');
    return all > 0 ? all - 1 : 0;  // without the head
  };
  while (lines() < 3 || !fs::exists(file("result.ckpt.h5"))) usleep(10000);
  usleep(100000);
  kill(program.id(), SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(names_in(folder_.path()),
              ElementsAre("log", "result.ckpt.h5", "result.h5", "result_report.html", "run.toml", "scan.h5"));
  EXPECT_EQ(lines(), 3);
  const Ended resumed =
      run({"ptycho", "resume", file("result.ckpt.h5"), "--set", "engine.1.rounds=1", "-o", file("again.h5")});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("continues after iteration 3"));
}

TEST_F(PtychoRun, ATerminatedRunWithCheckpointsLeavesOneOfItsLastIteration) {
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  write();
  const std::string settings = run_file("", "", 1000000);
  const Program program({"ptycho", "run", settings, "-o", file("result.h5"), "--log", file("log"), "--set",
                         "output.checkpoint_minutes=10000", "--set", "stop.rule=off"});
  while (!has_iterations(file("log"))) usleep(10000);
  kill(program.id(), SIGTERM);
  EXPECT_EQ(program.wait().status, 143);
  EXPECT_TRUE(has_result());
  std::ifstream log(file("log"));
  const auto done = std::count(std::istreambuf_iterator<char>(log), {}, '\n') - 1;  // without the head
  const std::string all = std::to_string(done + 2);
  const Ended resumed =
      run({"ptycho", "resume", file("result.ckpt.h5"), "--set", "engine.0.iterations=" + all, "-o", file("again.h5")});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("continues after iteration " + std::to_string(done) + " of"));
  // The bits of a run that nobody has stopped.
  ASSERT_EQ(run({"ptycho", "run", settings, "-o", file("through.h5"), "--set", "engine.0.iterations=" + all, "--set",
                 "stop.rule=off"})
                .status,
            0);
  EXPECT_EQ(testing::python("import sys, h5py, numpy as np\n"
                            "a, b = (h5py.File(sys.argv[1] + n) for n in ('/again.h5', '/through.h5'))\n"
                            "print([np.array_equal(a[n][()], b[n][()]) for n in ('object', 'metrics/R_I')])\n",
                            folder_.path().string()),
            "[True, True]\n");
}

}  // namespace
}  // namespace sonde
