// SPDX-License-Identifier: Apache-2.0
// Reconstructions as a user starts them: what is read and written, where it goes, and with which status they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "sonde/engine/device/device.h"
#include "tests/cli/program.h"
#include "tests/cli/ptycho_scan.h"
#include "tests/support/python.h"
#ifdef SONDE_MPIRUN
#include "tests/cli/ranks.h"
#endif

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::OnSmallScan;
using testing::run;

using PtychoRun = OnSmallScan;

TEST_F(PtychoRun, WritesTheResultItsPicturesAndALogLinePerIteration) {
  write();
  const Ended ended = reconstruct(run_file(), {"--log", file("log.jsonl"), "--report", file("report.json")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(fs::exists(file("result_phase.png")));
  EXPECT_TRUE(fs::exists(file("result_amplitude.png")));
  EXPECT_EQ(testing::python("import sys, json, h5py\n"
                            "lines = [json.loads(l) for l in open(sys.argv[1] + '/log.jsonl')][1:]\n"
                            "f = h5py.File(sys.argv[1] + '/result.h5')\n"
                            "print([l['iteration'] for l in lines], f['metrics/R_I'].shape, f['object'].shape[0], "
                            "f['probe'].shape)\n"
                            "print(lines[-1]['R_I'] == f['metrics/R_I'][-1], lines[-1]['R_I'] < lines[0]['R_I'])\n"
                            "r = json.load(open(sys.argv[1] + '/report.json'))\n"
                            "print(r['schema'], r['status'], r['results']['outcome'])\n",
                            folder_.path().string()),
            "[1, 2, 3, 4, 5] (5,) 1 (1, 1, 24, 24)\nTrue True\nsonde.report/1 ok finished\n");
}

TEST_F(PtychoRun, PreviewsArePicturesOfThePhaseAlone) {
  write();
  const std::vector<std::string> no_pictures = {"--set", "output.pictures=false", "--set"};
  const auto with = [&](const std::string& preview) {
    std::vector<std::string> words = no_pictures;
    words.push_back("output.preview_every=" + preview);
    return words;
  };
  ASSERT_EQ(reconstruct(run_file(), with("6")).status, 0);  // of 5 iterations
  EXPECT_FALSE(fs::exists(file("result_phase.png")));
  const Ended ended = reconstruct(run_file(), with("2"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(fs::exists(file("result_phase.png")));
  EXPECT_FALSE(fs::exists(file("result_amplitude.png")));
}

TEST_F(PtychoRun, EqualRunsAreEqualOutsideOfTheGroupRun) {
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  write();
  for (const char* memory : {"1G", "2G"}) {
    ASSERT_EQ(reconstruct(run_file(), {"--memory", memory}).status, 0);
    fs::copy_file(file("result.h5"), file(std::string(memory) + ".h5"));
  }
  EXPECT_EQ(
      testing::python("import sys, h5py, numpy as np\n"
                      "def told(name):\n"
                      "    found = {}\n"
                      "    def add(path, item):\n"
                      "        value = np.asarray(item[()]).tobytes() if isinstance(item, h5py.Dataset) else None\n"
                      "        found[path] = (value, sorted((k, str(v)) for k, v in item.attrs.items()))\n"
                      "    h5py.File(sys.argv[1] + name).visititems(add)\n"
                      "    return found\n"
                      "one, two = told('/1G.h5'), told('/2G.h5')\n"
                      "print(set(one) == set(two), [k for k in sorted(one) if one[k] != two[k] and not "
                      "k.startswith('run')], 'run/timing' in one, 'run/seconds' in one)\n",
                      folder_.path().string()),
      "True [] True True\n");
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
  EXPECT_THAT(refused.err, HasSubstr("positions are corrected by xcorr only on the CPU"));
  EXPECT_FALSE(std::filesystem::exists(file("refused.h5")));
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
  const Ended alone = testing::run_together(2, {"ptycho", "init", file("scan.h5"), "-o", file("none.toml")});
  EXPECT_EQ(alone.status, 8);
  EXPECT_THAT(alone.err, HasSubstr("ptycho init: several processes cannot share this work"));
  EXPECT_FALSE(std::filesystem::exists(file("none.toml")));
  EXPECT_FALSE(fs::exists(file("none.h5")));
  // From the checkpoint of three, two others and one alone come to the same.
  const Ended two = testing::run_together(2, {"ptycho", "resume", file("three.ckpt.h5"), "-o", file("two.h5")});
  ASSERT_EQ(two.status, 0) << two.err;
  EXPECT_THAT(two.err, HasSubstr("continues after iteration 3 of"));
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
  EXPECT_THAT(refused.err, AllOf(HasSubstr("does not contain all settings itself"),
                                 HasSubstr("sonde ptycho init " + file("scan.h5"))));
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
  testing::python("import sys, h5py\nwith h5py.File(sys.argv[1], 'a') as f: del f['positions']\n", file("scan.h5"));
  const Ended ended = run({"ptycho", "init", file("scan.h5"), "--set", "data.patterns=data"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  std::vector<std::string> marked;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);)
    if (line.find("# FILL IN: ") != std::string::npos) marked.push_back(line.substr(2, line.find(" =") - 2));
  EXPECT_THAT(marked, ::testing::ElementsAre("scan_shape", "energy_keV", "semiangle_mrad", "detector_mrad_per_px",
                                             "scan_step_A"));
}

}  // namespace
}  // namespace sonde
