// SPDX-License-Identifier: Apache-2.0
// Reconstructions as a user starts them: what is read, refused, written, and with which status they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "sonde/engine/device/device.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/cli/ptycho_scan.h"
#ifdef SONDE_MPIRUN
#include "tests/cli/ranks.h"
#endif
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::OnSmallScan;
using testing::Program;
using testing::run;
using testing::TemporaryFolder;

using PtychoRun = OnSmallScan;
using PtychoWrongInput = OnSmallScan;

TEST_F(PtychoRun, WritesTheResultItsPicturesAndALogLinePerIteration) {
  write();
  const Ended ended = reconstruct(run_file(), {"--log", file("log.jsonl"), "--report", file("report.json")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(fs::exists(file("result_phase.png")));
  EXPECT_TRUE(fs::exists(file("result_amplitude.png")));
  EXPECT_EQ(testing::python("import sys, json, h5py\n"
                            "lines = [json.loads(l) for l in open(sys.argv[1] + '/log.jsonl')]\n"
                            "f = h5py.File(sys.argv[1] + '/result.h5')\n"
                            "print([l['iteration'] for l in lines], f['metrics/R_I'].shape, f['object'].shape[0], "
                            "f['probe'].shape)\n"
                            "print(lines[-1]['R_I'] == f['metrics/R_I'][-1], lines[-1]['R_I'] < lines[0]['R_I'])\n"
                            "r = json.load(open(sys.argv[1] + '/report.json'))\n"
                            "print(r['schema'], r['status'], r['results']['outcome'])\n",
                            folder_.path().string()),
            "[1, 2, 3, 4, 5] (5,) 1 (1, 1, 24, 24)\nTrue True\nsonde.report/1 ok finished\n");
}

TEST_F(PtychoRun, ItsSettingsRepeatItBitForBit) {
  // A cache of measured Fourier plans that no other test writes to: plans measured anew may round differently.
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  write();
  ASSERT_EQ(reconstruct(run_file(), {"--set", "engine.0.step_object=0.3"}).status, 0);
  testing::python(
      "import sys, h5py\n"
      "f = h5py.File(sys.argv[1] + '/result.h5')\n"
      "open(sys.argv[1] + '/again.toml', 'wb').write(f['settings'][()])\n",
      folder_.path().string());
  ASSERT_EQ(run({"ptycho", "run", file("again.toml"), "-o", file("again.h5")}).status, 0);
  EXPECT_EQ(testing::python("import sys, h5py, numpy as np\n"
                            "a, b = (h5py.File(sys.argv[1] + n) for n in ('/result.h5', '/again.h5'))\n"
                            "print(np.array_equal(a['object'][()], b['object'][()]), "
                            "np.array_equal(a['probe'][()], b['probe'][()]))\n",
                            folder_.path().string()),
            "True True\n");
}

TEST_F(PtychoRun, AGpuThatIsNotThereIsADeviceError) {
  if (Device::all().size() > 1) GTEST_SKIP() << "this machine has a GPU";
  write();
  const Ended ended = reconstruct(run_file(), {"--device", "cuda"});
  EXPECT_EQ(ended.status, 6);
  EXPECT_THAT(ended.err, HasSubstr("device \"cuda\" is not available: "));
  EXPECT_THAT(ended.err, HasSubstr("hint: use --device cpu"));
  EXPECT_FALSE(has_result());
}

TEST_F(PtychoRun, OnTheGpuFindsWhatTheCpuFinds) {
  if (Device::all().size() < 2) GTEST_SKIP() << "no GPU: " << Device::why_no_gpu();
  write();
  std::string text;
  {
    std::ifstream file(run_file("", "", 20));
    std::stringstream whole;
    whole << file.rdbuf();
    text = whole.str();
  }
  text.replace(text.find("epie"), 4, "gd");
  std::ofstream(file("gd.toml")) << text;
  for (const char* device : {"cpu", "cuda"}) {
    const Ended ended = run({"ptycho", "run", file("gd.toml"), "-o", file(device) + ".h5", "--device", device});
    ASSERT_EQ(ended.status, 0) << ended.err;
  }
  EXPECT_EQ(testing::python("import sys, h5py, numpy as np\n"
                            "a, b = (h5py.File(sys.argv[1] + n)['object'][()] for n in ('/cpu.h5', '/cuda.h5'))\n"
                            "print(np.linalg.norm(a - b) < 1e-3 * np.linalg.norm(a))\n",
                            folder_.path().string()),
            "True\n");
  const Ended refused = run({"ptycho", "run", file("gd.toml"), "-o", file("refused.h5"), "--device", "cuda", "--set",
                             "positions.method=xcorr"});
  EXPECT_EQ(refused.status, 8);
  EXPECT_THAT(refused.err, HasSubstr("positions are corrected by xcorr on the CPU alone"));
  EXPECT_FALSE(std::filesystem::exists(file("refused.h5")));
}

TEST_F(PtychoRun, ResumeGoesOnFromACheckpointBitForBit) {
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  write();
  ASSERT_EQ(reconstruct(run_file("", "", 8), {"--set", "output.checkpoint_every=3"}).status, 0);
  const Ended ended = run({"ptycho", "resume", file("result.ckpt.h5"), "-o", file("again.h5")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("goes on after iteration 6"));
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

TEST_F(PtychoRun, DeterministicIsTheSameWhateverWasMeasuredBefore) {
  // The first run finds nothing, and leaves nothing; the last one finds what the second has measured.
  setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
  write();
  const std::string settings = run_file();
  ASSERT_EQ(run({"ptycho", "run", settings, "--deterministic", "-o", file("a.h5")}).status, 0);
  EXPECT_FALSE(fs::exists(file("cache"))) << "it has measured";
  ASSERT_EQ(run({"ptycho", "run", settings, "-o", file("measured.h5")}).status, 0);
  ASSERT_EQ(run({"ptycho", "run", settings, "--deterministic", "-o", file("b.h5")}).status, 0);
  EXPECT_EQ(testing::python("import sys, h5py, numpy as np\n"
                            "a, b = (h5py.File(sys.argv[1] + n) for n in ('/a.h5', '/b.h5'))\n"
                            "print([np.array_equal(a[n][()], b[n][()]) for n in ('object', 'probe')], "
                            "b'deterministic = true' in a['settings'][()])\n",
                            folder_.path().string()),
            "[True, True] True\n");
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

TEST_F(PtychoRun, DryRunPrintsThePlanAndWritesNothing) {
  write();
  const Ended ended = reconstruct(run_file(), {"--dry-run"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("patterns"), HasSubstr("64 x 24 x 24 x 4 B"), HasSubstr("overlap"),
                               HasSubstr("groups"), HasSubstr("seconds per iteration")));
  EXPECT_FALSE(has_result());
}

TEST_F(PtychoRun, TooLittleMemoryEndsWithStatus4BeforeAnyWork) {
  write();
  const Ended ended = reconstruct(run_file(), {"--memory", "64k"});
  EXPECT_EQ(ended.status, 4);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("are missing"), HasSubstr("hint: raise --memory")));
  EXPECT_FALSE(has_result());
}

TEST_F(PtychoRun, ADivergedRunEndsWithStatus7AndWritesItsBestState) {
  write();
  // Steps of twice the largest sensible one do not settle.
  const Ended ended = reconstruct(run_file("step_object = 2.0\nstep_probe = 2.0\n", "", 200));
  EXPECT_EQ(ended.status, 7) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("hint: halve the steps"));
  EXPECT_TRUE(has_result());
}

TEST_F(PtychoRun, EndingWithoutConvergenceIsStatus7WhenItIsRequired) {
  write();
  EXPECT_EQ(reconstruct(run_file("[stop]\nrequire = true\n")).status, 7);
  EXPECT_TRUE(has_result());
}

TEST_F(PtychoRun, AnInterruptedRunWritesWhatItHas) {
  write();
  const Program program({"ptycho", "run", run_file("", "", 1000000), "-o", file("result.h5"), "--log", file("log")});
  while (!fs::exists(file("log")) || fs::file_size(file("log")) == 0) usleep(10000);
  kill(program.id(), SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_TRUE(has_result());
}

/// The names in the folder, each followed by a blank.
std::string names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

/// An engine whose one iteration goes on for hours: rounds of object and probe that never agree.
constexpr const char* endless_iteration =
    "[[engine]]\nname = \"dm\"\niterations = 1\nrounds = 1000000000\nprobe_change = 0.0\n"
    "[stop]\nrule = \"off\"\n";

TEST_F(PtychoRun, ATerminatedIterationLeavesTheResultOfTheOneBeforeAndNothingHalfWritten) {
  write();
  const Program program(
      {"ptycho", "run", run_file(endless_iteration, "", 1), "-o", file("result.h5"), "--log", file("log")});
  while (!fs::exists(file("log")) || fs::file_size(file("log")) == 0) usleep(10000);  // the first engine is done
  usleep(100000);
  kill(program.id(), SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 143) << ended.err;
  // The estimate of the iteration that was done, whole, and no file under another name.
  EXPECT_EQ(names_in(folder_.path()),
            "log result.h5 result_amplitude.png result_phase.png result_report.html run.toml scan.h5 ");
}

TEST_F(PtychoRun, AnInterruptInsideAnIterationLeavesTheCheckpointOfTheOneBefore) {
  write();
  const Program program({"ptycho", "run", run_file(endless_iteration, "", 3), "-o", file("result.h5"), "--log",
                         file("log"), "--set", "output.checkpoint_every=1", "--set", "output.pictures=false"});
  const auto lines = [&] {
    std::ifstream log(file("log"));
    return std::count(std::istreambuf_iterator<char>(log), {}, '\n');
  };
  while (lines() < 3 || !fs::exists(file("result.ckpt.h5"))) usleep(10000);
  usleep(100000);
  kill(program.id(), SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_EQ(names_in(folder_.path()), "log result.ckpt.h5 result.h5 result_report.html run.toml scan.h5 ");
  EXPECT_EQ(lines(), 3);
  const Ended resumed =
      run({"ptycho", "resume", file("result.ckpt.h5"), "--set", "engine.1.rounds=1", "-o", file("again.h5")});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("goes on after iteration 3"));
}

TEST_F(PtychoRun, ATerminatedRunWithCheckpointsLeavesOneOfItsLastIteration) {
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  write();
  const std::string settings = run_file("", "", 1000000);
  const Program program({"ptycho", "run", settings, "-o", file("result.h5"), "--log", file("log"), "--set",
                         "output.checkpoint_minutes=10000", "--set", "stop.rule=off"});
  while (!fs::exists(file("log")) || fs::file_size(file("log")) == 0) usleep(10000);
  kill(program.id(), SIGTERM);
  EXPECT_EQ(program.wait().status, 143);
  EXPECT_TRUE(has_result());
  std::ifstream log(file("log"));
  const auto done = std::count(std::istreambuf_iterator<char>(log), {}, '\n');
  const std::string all = std::to_string(done + 2);
  const Ended resumed =
      run({"ptycho", "resume", file("result.ckpt.h5"), "--set", "engine.0.iterations=" + all, "-o", file("again.h5")});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("goes on after iteration " + std::to_string(done) + " of"));
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

TEST_F(PtychoRun, PatternsThatDoNotFitGoToTheDiskAndGiveTheSameResult) {
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  write("frames = np.repeat(frames, 8, 0); positions = np.repeat(positions, 8, 0)");
  const std::string settings = run_file();
  ASSERT_EQ(reconstruct(settings).status, 0);
  const Ended planned = reconstruct(settings, {"--dry-run", "--memory", "1M", "--threads", "1"});
  EXPECT_EQ(planned.status, 0) << planned.err;
  EXPECT_THAT(planned.err, AllOf(HasSubstr("patterns as counts on the disk"), HasSubstr("1.00 MiB may be used")));
  EXPECT_EQ(reconstruct(settings, {"--memory", "100k", "--threads", "1"}).status, 4);
  // The same roots of the same counts, from memory and from the disk.
  ASSERT_EQ(reconstruct(settings, {"--storage", "counts"}).status, 0);
  ASSERT_EQ(
      run({"ptycho", "run", settings, "--storage", "counts", "--set", "data.tier=disk", "-o", file("disk.h5")}).status,
      0);
  EXPECT_EQ(testing::python("import sys, h5py, numpy as np\n"
                            "a, b = (h5py.File(sys.argv[1] + n) for n in ('/result.h5', '/disk.h5'))\n"
                            "print([np.array_equal(a[n][()], b[n][()]) for n in ('object', 'probe', 'metrics/R_I')])\n",
                            folder_.path().string()),
            "[True, True, True]\n");
}

#ifdef SONDE_MPIRUN
TEST_F(PtychoRun, SeveralProcessesWriteTheResultOfOne) {
  write();
  const std::string settings = run_file();
  std::ofstream(file("gd.toml")) << "[data]\nfile = \"scan.h5\"\npatterns = \"data\"\npositions = \"positions\"\n"
                                 << "holdout = 0.1\n[geometry]\nunits = \"pixel\"\n[probe]\nfile = \"scan.h5:probe\"\n"
                                 << "[[engine]]\nname = \"gd\"\niterations = 5\nbatch = 16\n[stop]\nrule = "
                                    "\"off\"\n[compute]\nprecision = \"f64\"\n";
  ASSERT_EQ(run({"ptycho", "run", file("gd.toml"), "-o", file("one.h5")}).status, 0);
  const Ended three = testing::run_together(3, {"ptycho", "run", file("gd.toml"), "-o", file("three.h5"), "--threads",
                                                "1", "--set", "output.checkpoint_every=3"});
  ASSERT_EQ(three.status, 0) << three.err;
  EXPECT_THAT(three.err, AllOf(HasSubstr("processes 3"), HasSubstr("wrote     " + file("three.h5"))));
  EXPECT_EQ(testing::python(
                "import sys, h5py, numpy as np\n"
                "a, b = (h5py.File(sys.argv[1] + n) for n in ('/one.h5', '/three.h5'))\n"
                "near = lambda n: bool(np.abs(a[n][()] - b[n][()]).max() < 1e-10 * np.abs(a[n][()]).max())\n"
                "print([near(n) for n in ('object', 'probe', 'metrics/R_I', 'metrics/R_free', 'positions_px')])\n",
                folder_.path().string()),
            "[True, True, True, True, True]\n");
  const Ended refused = testing::run_together(2, {"ptycho", "run", settings, "-o", file("none.h5")});
  EXPECT_EQ(refused.status, 8);
  EXPECT_THAT(refused.err, HasSubstr("engine \"epie\" cannot be shared by several processes"));
  EXPECT_FALSE(fs::exists(file("none.h5")));
  // From the checkpoint of three, two others and one alone come to the same.
  const Ended two = testing::run_together(2, {"ptycho", "resume", file("three.ckpt.h5"), "-o", file("two.h5")});
  ASSERT_EQ(two.status, 0) << two.err;
  EXPECT_THAT(two.err, HasSubstr("goes on after iteration 3 of"));
  ASSERT_EQ(run({"ptycho", "resume", file("three.ckpt.h5"), "-o", file("alone.h5")}).status, 0);
  EXPECT_EQ(testing::python(
                "import sys, h5py, numpy as np\n"
                "a, b, c = (h5py.File(sys.argv[1] + n) for n in ('/one.h5', '/two.h5', '/alone.h5'))\n"
                "near = lambda n, b: bool(np.abs(a[n][()] - b[n][()]).max() < 1e-10 * np.abs(a[n][()]).max())\n"
                "print([near(n, x) for n in ('object', 'probe', 'metrics/R_I', 'positions_px') for x in (b, c)])\n",
                folder_.path().string()),
            "[True, True, True, True, True, True, True, True]\n");
}
#endif

TEST_F(PtychoRun, ADataFileTakesItsSettingsFromConfig) {
  write();
  const Ended ended = run({"ptycho", "run", file("scan.h5"), "--config", run_file(), "-o", file("result.h5")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(run({"ptycho", "run", file("scan.h5"), "-o", file("result.h5")}).status, 2);
}

TEST_F(PtychoRun, ADataFileNeedsNoRunFileWhenTheCommandLineSaysWhatItDoesNot) {
  write("frames = frames.reshape(8, 8, n, n)");
  const Ended refused = run({"ptycho", "run", file("scan.h5"), "-o", file("result.h5")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("does not say all of itself"), HasSubstr("sonde ptycho init " + file("scan.h5"))));
  const Ended ended =
      run({"ptycho", "run", file("scan.h5"), "-o", file("result.h5"), "--set", "geometry.units=pixel", "--set",
           "geometry.scan_step_px=2", "--set", "data.patterns=data", "--set", "engine.0.iterations=2"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(has_result());
}

TEST_F(PtychoRun, OddSizesArePaddedAndThePaddingIsNotMeasured) {
  write("frames = frames[:, 1:, 1:]; mask = mask[1:, 1:]; positions += 0.0\nprobe = np.ones((24, 24))");
  const Ended ended = reconstruct(run_file("[stop]\nrule = \"off\"\n"), {"--set", "probe.init=mean_bf"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("patterns of 23 x 23 pixels are padded to 24 x 24"));
}

TEST_F(PtychoRun, ResultsAreExported) {
  write();
  ASSERT_EQ(reconstruct(run_file()).status, 0);
  EXPECT_EQ(run({"ptycho", "export", file("result.h5"), "--to", "npy", "-o", file("e")}).status, 0);
  EXPECT_TRUE(fs::exists(file("e_object.npy")));
  // Nothing in this measurement is in metres.
  EXPECT_EQ(run({"ptycho", "export", file("result.h5"), "--to", "cxi"}).status, 8);
}

TEST_F(PtychoRun, InitWritesARunFileThatRuns) {
  write();
  ASSERT_EQ(run({"ptycho", "init", file("scan.h5"), "-o", file("new.toml"), "--engine", "gd", "--set",
                 "geometry.units=pixel", "--set", "data.positions=positions", "--set", "data.patterns=data"})
                .status,
            0);
  std::ifstream written(file("new.toml"));
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(written), {}), HasSubstr("\nname = \"probe_power\""));
  const Ended ended =
      run({"ptycho", "run", file("new.toml"), "--set", "engine.0.iterations=2", "-o", file("result.h5")});
  EXPECT_EQ(ended.status, 0) << ended.err;
}

TEST_F(PtychoRun, InitMarksWhatIsNeededAndNobodySays) {
  write();
  const Ended ended = run({"ptycho", "init", file("scan.h5"), "--set", "data.patterns=data"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  std::vector<std::string> marked;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);)
    if (line.find("# FILL IN: ") != std::string::npos) marked.push_back(line.substr(2, line.find(" =") - 2));
  EXPECT_THAT(marked, ::testing::ElementsAre("scan_shape", "energy_keV", "semiangle_mrad", "detector_mrad_per_px",
                                             "scan_step_A"));
}

// ---- Wrong input
// ------------------------------------------------------------------------------------------------------

TEST_F(PtychoWrongInput, EveryProblemOfARunFileIsToldWithItsLine) {
  write();
  const Ended ended = reconstruct(run_file("[stpo]\n[stop]\nrule = \"of\"\n"));
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("unknown table [stpo]"), HasSubstr("did you mean \"stop\""),
                               HasSubstr("unknown word \"of\"; did you mean \"off\"")));
}

TEST_F(PtychoWrongInput, FramesWithoutCountsAreListedAndCanBeLeftOut) {
  write("frames[3] = 0; frames[17] = 0");
  const Ended refused = reconstruct(run_file());
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("2 frames have no count: 3 and 17"), HasSubstr("--skip-empty")));
  EXPECT_EQ(reconstruct(run_file(), {"--skip-empty"}).status, 0);
}

TEST_F(PtychoWrongInput, NegativeCountsAreNamedAndCanBeClipped) {
  write("frames = frames.astype('f4'); frames[5, 6, 7] = -1");
  const Ended refused = reconstruct(run_file());
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("first frame 5, row 6, column 7"), HasSubstr("--clip-negative")));
  EXPECT_EQ(reconstruct(run_file(), {"--clip-negative"}).status, 0);
}

TEST_F(PtychoWrongInput, MaskedPixelsMayHoldAnything) {
  write("frames = frames.astype('f4'); frames[5, 6, 7] = np.nan; mask[6, 7] = 0");
  EXPECT_EQ(reconstruct(run_file()).status, 3);
  EXPECT_EQ(reconstruct(run_file("", "mask = \"mask\"\n")).status, 0);
}

TEST_F(PtychoWrongInput, FramesThatComeLastAreSuspected) {
  write("frames = np.moveaxis(frames, 0, -1)");
  const Ended ended = reconstruct(run_file());
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("shape (24, 24, 64) with 64 positions"), HasSubstr("in another order")));
}

TEST_F(PtychoWrongInput, PositionsOfTheWrongShapeNumberOrValueAreNamed) {
  write("positions = positions.T");
  EXPECT_THAT(reconstruct(run_file()).err,
              AllOf(HasSubstr("shape (2, 64), expected (frames, 2)"), HasSubstr("exchanged")));
  write("positions = positions[:60]");
  EXPECT_THAT(reconstruct(run_file()).err, HasSubstr("60 positions for 64 frames"));
  write("positions[7, 1] = np.nan");
  const Ended ended = reconstruct(run_file());
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("position 7"));
}

TEST_F(PtychoWrongInput, MissingDataSetsNameWhatIsThere) {
  write();
  const Ended ended = reconstruct(run_file(), {"--set", "data.patterns=dta"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("no data set \"dta\""), HasSubstr("/data")));
}

TEST_F(PtychoWrongInput, SamplingThatContradictsItselfNamesTheNumbers) {
  write();
  const Ended ended =
      reconstruct(run_file(), {"--set", "geometry.units=A", "--set", "geometry.energy_keV=200", "--set",
                               "geometry.detector_mrad_per_px=1", "--set", "geometry.object_pixel_A=2"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("the sampling is inconsistent"), HasSubstr("1.045 A"),
                               HasSubstr("object_pixel_A = 2 of the run file")));
}

TEST_F(PtychoWrongInput, TooLittleOverlapWarnsWithTheNumber) {
  write("positions *= 6");
  const Ended ended = reconstruct(run_file());
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("warning: neighbours overlap by"), HasSubstr("below 60 %")));
  // Before any work too.
  EXPECT_THAT(reconstruct(run_file(), {"--dry-run"}).err, HasSubstr("warning: neighbours overlap by"));
}

TEST_F(PtychoWrongInput, AStepThatIsWrongByATenthShowsAtTheEnd) {
  write();
  EXPECT_THAT(reconstruct(run_file("", "", 40)).err, ::testing::Not(HasSubstr("times its floor")));
  write("positions = 12 + (positions - 12) / 10");
  const Ended ended = reconstruct(run_file("", "", 40));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("times its floor: more iterations are needed, or step, energy"));
}

TEST_F(PtychoWrongInput, ADefocusBesideAProbeOfAFileIsSaidToHaveNoEffect) {
  write();
  const Ended ended = reconstruct(run_file(), {"--set", "probe.defocus_A=150"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("warning: [probe] defocus_A = 150 has no effect: the first probe comes from a file"));
}

TEST_F(PtychoWrongInput, AFarPositionIsNamedBeforeTheMemoryThatItsObjectNeeds) {
  write("positions[9] = (4000, 4000)");
  const Ended ended = reconstruct(run_file(), {"--memory", "64M"});
  EXPECT_EQ(ended.status, 4);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("warning: frame 9 lies "), HasSubstr("most is for object")));
  EXPECT_FALSE(has_result());
}

TEST_F(PtychoWrongInput, PositionsThatAreKeptAtTheirLimitAreSaidOnce) {
  write("positions[20] += 3");
  const Ended ended = reconstruct(run_file("[positions]\nmethod = \"gradient\"\nstart = 1\nmax_move_px = 0.01\n"));
  EXPECT_EQ(ended.status, 0) << ended.err;
  const std::string warning = "positions stand at their limit at iteration 1: 0.01 px from where they began";
  EXPECT_THAT(ended.err, HasSubstr(warning));
  EXPECT_EQ(ended.err.find("stand at their limit"), ended.err.rfind("stand at their limit"));
}

TEST_F(PtychoWrongInput, FramesAtOnePlaceAreRefused) {
  write("positions[:] = 12");
  const Ended ended = reconstruct(run_file());
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("all 64 frames lie at one place, (12, 12)"));
}

TEST_F(PtychoWrongInput, ScanAxesThatComeLastAreSuspectedByTheCounts) {
  write("frames = np.moveaxis(frames.reshape(8, 8, n, n), (0, 1), (2, 3))");
  const Ended positioned = reconstruct(run_file());
  EXPECT_EQ(positioned.status, 3);
  EXPECT_THAT(positioned.err,
              HasSubstr("shape (24, 24, 8, 8) with 64 positions: the axes seem to be in another order"));
  std::ofstream(file("raster.toml")) << "[data]\nfile = \"scan.h5\"\npatterns = \"data\"\nskip_empty = true\n"
                                     << "[geometry]\nunits = \"pixel\"\nscan_step_px = 2\n[probe]\nfwhm = 4\n"
                                     << "[[engine]]\nname = \"epie\"\niterations = 1\n";
  const Ended ended = run({"ptycho", "run", file("raster.toml"), "-o", file("result.h5")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the mean pattern is flat as a scan is: the axes seem to be in another order"));
}

TEST_F(PtychoWrongInput, TheOtherZeroFrequencyIsSuspected) {
  write();
  EXPECT_THAT(reconstruct(run_file("", "zero_frequency = \"corner\"\n")).err,
              HasSubstr("most counts lie at the centre of the patterns, but zero_frequency is \"corner\""));
}

TEST_F(PtychoWrongInput, TheMeasurementIsNeverReplaced) {
  write();
  const Ended ended = run({"ptycho", "run", run_file(), "-o", file("scan.h5")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("would replace the measurement"));
}

// ---- Shipped measurements
// ---------------------------------------------------------------------------------------------

/// The last value of a metric in a result.
double last(const std::string& path, const std::string& metric) {
  const Array values = Hdf5File::open(path).dataset("/metrics/" + metric).read();
  return values.view<double, 1>()(values.count() - 1);
}

TEST(PtychoData, SiemensStarReachesTheStatedError) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const std::string star = (data / "ptychography/siemens_star_small.h5").string();
  std::ofstream(folder.file("star.toml"))
      << "[data]\nfile = \"" << star << "\"\npositions = \"scan\"\nzero_frequency = \"corner\"\nholdout = 0.0\n"
      << "[geometry]\nunits = \"pixel\"\n[probe]\nfile = \"" << star << ":probe\"\n"
      << "[[engine]]\nname = \"epie\"\niterations = 40\nstep_object = 0.2\nstep_probe = 0.2\n"
      << "[positions]\nunit = \"px\"\nreference = \"window_corner\"\nwhole_pixels = true\n[stop]\nrule = \"off\"\n";
  const Ended ended = run({"ptycho", "run", folder.file("star.toml"), "-o", folder.file("star.h5")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  // The marks of the specification (V8).
  EXPECT_LE(last(folder.file("star.h5"), "R_I"), 0.120);
  EXPECT_LE(last(folder.file("star.h5"), "R_A"), 0.162);
}

/// R_I of the reference curves at one iteration: the least and the largest of the three orders.
std::pair<double, double> reference(const fs::path& curves, const std::string& begin, const std::string& iteration) {
  std::ifstream file(curves);
  std::pair<double, double> ends{1e9, 0};
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream cut(line);
    for (std::string cell; std::getline(cut, cell, ',');) cells.push_back(cell);
    if (cells.size() < 5 || cells[0] + "," + cells[1] != begin || cells[3] != iteration) continue;
    const double value = std::strtod(cells[4].c_str(), nullptr);
    ends = {std::min(ends.first, value), std::max(ends.second, value)};
  }
  return ends;
}

TEST(PtychoData, SimulatedSetFollowsItsReferenceCurve) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const fs::path v5 = data / "ptychography/v5";
  std::ofstream(folder.file("v5.toml"))
      << "[data]\nfile = \"" << (v5 / "v5.h5").string() << "\"\npatterns = \"counts_1e6\"\npositions = \""
      << (v5 / "positions_px.npy").string() << "\"\nholdout = 0.0\n"
      << "[geometry]\nenergy_keV = 200\ndetector_mrad_per_px = 1.875\n[probe]\nfile = \""
      << (v5 / "probe_start.npy").string() << "\"\n"
      << "[[engine]]\nname = \"epie\"\niterations = 100\nstep_object = 0.05\nstep_probe = 0.05\n"
      << "[positions]\nunit = \"px\"\n[stop]\nrule = \"off\"\n";
  const Ended ended = run({"ptycho", "run", folder.file("v5.toml"), "-o", folder.file("v5.h5")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto [least, largest] = reference(v5 / "reference.csv", "1e6,0.05", "100");
  ASSERT_LT(least, 1);
  // R_I within 1 % of the reference runs (specification 11.1).
  EXPECT_NEAR(last(folder.file("v5.h5"), "R_I"), (least + largest) / 2, 0.01 * largest);
}

}  // namespace
}  // namespace sonde
