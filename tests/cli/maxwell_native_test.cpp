// SPDX-License-Identifier: Apache-2.0
// Native models and run files as a user runs them, and what wrong ones are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/maxwell.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::Ended;
using ::testing::HasSubstr;
using testing::MaxwellProgram;

/// 40 x 30 cells of 5 cm, two shots, three receivers; 10 cells per wavelength at the highest frequency.
const std::string strip =
    "[model]\neps_r = 4\nsigma = 0.002\nshape = [40, 30]\nspacing = 0.05\n"
    "[survey]\nsources = [10, 4, 20, 4]\nreceivers = [10, 24, 20, 24, 30, 24]\n"
    "[source]\nf0 = 100e6\n[time]\nnt = 120\n";

/// The same as h5py writes it.
const std::string write_strip =
    "import sys, h5py, numpy as np\n"
    "with h5py.File(sys.argv[1] + '/strip.h5', 'w') as f:\n"
    "    f.attrs['format'] = 'sonde-maxwell-1'\n"
    "    f['model/eps_r'] = np.full((40, 30), 4, 'f4'); f['model/sigma'] = np.full((40, 30), 0.002)\n"
    "    f['model'].attrs['spacing'] = 0.05\n"
    "    f['survey/source_location'] = np.array([[[10, 4]], [[20, 4]]], 'i4')\n"
    "    f['survey/receiver_location'] = np.array([[[10, 24], [20, 24], [30, 24]]], 'i4')\n"
    "    f['survey/source_component'] = 'Ey'; f['survey/receiver_component'] = 'Ey'\n"
    "    s = f.create_group('source').attrs; s['wavelet'] = 'ricker'; s['f0'] = 100e6\n"
    "    f.create_group('time').attrs['nt'] = 120\n";

TEST_F(MaxwellProgram, ARunFileAndANativeModelGiveTheSameRecords) {
  testing::python(write_strip, folder_.path().string());
  ASSERT_EQ(command({"run", model(strip, "strip.toml"), "-o", file("a.h5")}).status, 0);
  ASSERT_EQ(command({"run", file("strip.h5"), "-o", file("b.h5")}).status, 0);
  testing::python(
      "import sys, h5py\n"
      "a, b = (h5py.File(sys.argv[1] + name)['receivers/data'][:] for name in ('/a.h5', '/b.h5'))\n"
      "assert a.shape == (120, 2, 3) and a.dtype == 'f4' and a.any() and (a == b).all()\n",
      folder_.path().string());
}

TEST_F(MaxwellProgram, RecordsSayWhereAndWhenTheyWereMade) {
  ASSERT_EQ(command({"run", model(strip, "strip.toml"), "-o", file("a.h5"), "--dtype", "f64"}).status, 0);
  testing::python(
      "import sys, h5py, numpy as np\n"
      "f = h5py.File(sys.argv[1] + '/a.h5'); at = f['receivers'].attrs\n"
      "assert f.attrs['format'] == 'sonde-maxwell-1' and 'dtype = \"f64\"' in f.attrs['run_file']\n"
      "assert f['receivers/data'].dtype == 'f8' and f['receivers/data'].attrs['units'] == 'V/m'\n"
      "assert at['components'] == 'Ey' and np.allclose(at['time_of_first_sample'], at['dt'])\n"
      "limit = 1 / (7 / 6 * 299792458 / 2 * np.sqrt(2) / 0.05)\n"  // order 4, eps_r = 4
      "assert abs(at['dt'] / (0.9 * limit) - 1) < 1e-9\n"
      "assert f['survey/source_location'][:].tolist() == [[[10, 4]], [[20, 4]]]\n",
      folder_.path().string());
}

TEST_F(MaxwellProgram, RecordsGoBesideTheModelUnlessTheyAreNamed) {
  ASSERT_EQ(command({"run", model(strip, "strip.toml")}).status, 0);
  EXPECT_TRUE(fs::exists(file("strip_records.h5")));
  ASSERT_EQ(command({"run", model(strip + "[output]\nfile = \"named.nc\"\n", "strip.toml")}).status, 0);
  EXPECT_TRUE(fs::exists(file("named.nc")));
}

TEST_F(MaxwellProgram, AGatherBecomesAPicture) {
  ASSERT_EQ(command({"run", model(strip, "strip.toml"), "-o", file("a.h5"), "--plot", file("run.png")}).status, 0);
  ASSERT_EQ(command({"plot", file("a.h5"), "--shot", "2", "-o", file("plot.png")}).status, 0);
  EXPECT_TRUE(fs::exists(file("run.png")));
  EXPECT_TRUE(fs::exists(file("plot.png")));
}

TEST_F(MaxwellProgram, ADryRunOfARunFileWritesNothing) {
  const Ended ended = command({"run", model(strip, "strip.toml"), "--dry-run"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err + ended.out, HasSubstr("cells per wavelength"));
  EXPECT_FALSE(fs::exists(file("strip_records.h5")));
}

TEST_F(MaxwellProgram, AGradientByFieldsTakenBackIsPlannedAndIsThatOfStoredOnes) {
  const std::string input = model(strip, "strip.toml");
  ASSERT_EQ(command({"run", input, "--set", "model.eps_r=4.5", "-o", file("observed.h5")}).status, 0);
  const auto gradient = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"gradient", input, "--observed", file("observed.h5")};
    words.insert(words.end(), more.begin(), more.end());
    return command(words);
  };
  const Ended planned = gradient({"--storage-mode", "reconstruct", "--dry-run"});
  EXPECT_EQ(planned.status, 0);
  EXPECT_THAT(planned.err, HasSubstr("reconstruct, "));
  EXPECT_THAT(planned.err, HasSubstr("steps backwards in time"));
  ASSERT_EQ(gradient({"--storage-mode", "reconstruct", "-o", file("a.h5")}).status, 0);
  ASSERT_EQ(gradient({"--storage-mode", "host", "-o", file("b.h5")}).status, 0);
  testing::python(
      "import sys, h5py, numpy as np\n"
      "a, b = (h5py.File(sys.argv[1] + name)['gradient/eps_r'][:] for name in ('/a.h5', '/b.h5'))\n"
      "assert 0 < np.abs(a - b).max() <= 1e-3 * np.abs(b).max()\n",
      folder_.path().string());
  const Ended refused = gradient({"--storage-mode", "reconstruct", "--set", "model.sigma=0.1"});
  EXPECT_EQ(refused.status, 8);
  EXPECT_THAT(refused.err, HasSubstr("reconstruct: backwards in time loss makes rounding grow by exp("));
}

TEST_F(MaxwellProgram, InitWritesARunFileThatRuns) {
  testing::python(write_strip, folder_.path().string());
  ASSERT_EQ(command({"init", file("strip.h5"), "--set", "grid.order=2", "-o", file("run.toml")}).status, 0);
  ASSERT_EQ(command({"run", file("run.toml"), "-o", file("a.h5")}).status, 0);
  testing::python("import sys, h5py\nassert h5py.File(sys.argv[1] + '/a.h5').attrs['order'] == 2\n",
                  folder_.path().string());
}

TEST_F(MaxwellProgram, InitMarksWhatIsToBeFilledIn) {
  const Ended ended = command({"init", "--set", "time.nt=100"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("# spacing = \"\"                       # FILL IN: size of a cell"));
  EXPECT_THAT(ended.out, HasSubstr("\nnt = 100                             # time steps"));
}

TEST_F(MaxwellProgram, WrongNativeModelsAreNamed) {
  int count = 0;
  const auto with = [&](const std::string& piece, const std::string& other) {
    std::string text = strip;
    return model(text.replace(text.find(piece), piece.size(), other), "wrong" + std::to_string(++count) + ".toml");
  };
  const std::string good = model(strip, "strip.toml"), out = file("out.h5");
  for (const Wrong& c : std::vector<Wrong>{
           {{"run", good, "-o", file("a.out")}, 2, "results are written as"},
           {{"run", good, "-o", out, "-n", "2"}, 2, "--runs repeats models of gprMax"},
           {{"run", good, "-o", out, "--set", "grid.pmll=3"}, 2, "did you mean \"pml\"?"},
           {{"run", model(), "-o", out, "--set", "grid.pml=3"}, 2, "takes no settings of a run file"},
           {{"run", with("nt = 120", "nt = 0"), "-o", out}, 3, "0 is below the smallest allowed value, 1"},
           {{"run", with("eps_r = 4", "eps_r = 0.5"), "-o", out}, 3, "eps_r = 0.5 at [0, 0, 0] (z, y, x)"},
           {{"run", with("30, 24]", "30, 30]"), "-o", out}, 3, "receiver_location [0, 2, 1] = 30: expected an index"},
           {{"run", with("f0 = 100e6", "f0 = 1e9"), "-o", out}, 3, "cells per wavelength at"},
           {{"run", with("eps_r = 4", "eps_r = \"gone.npy\""), "-o", out}, 3, "gone.npy: no such file"},
           {{"run", with("[40, 30]", "[400000, 300000]"), "-o", out}, 4, "the experiment needs"},
       })
    expect_refused(c);
}

TEST_F(MaxwellProgram, AnAccuracyKeepsTheStepOfRecordsThatIsGiven) {
  std::string text = strip;
  text.replace(text.find("nt = 120"), 8, "nt = 250\ndt = 1e-10");
  const std::string timed = model(text, "timed.toml");
  ASSERT_EQ(command({"run", timed, "-o", file("as_it_is.h5")}).status, 0);
  ASSERT_EQ(command({"run", timed, "-o", file("chosen.h5"), "--accuracy", "0.3%"}).status, 0);
  testing::python(
      "import sys, h5py\n"
      "a, b = (h5py.File(f'{sys.argv[1]}/{name}.h5') for name in ('as_it_is', 'chosen'))\n"
      "x, y = a['receivers/data'][:], b['receivers/data'][:]\n"
      "assert x.shape == y.shape and a['receivers'].attrs['dt'] == b['receivers'].attrs['dt']\n"
      "assert 0 < abs(x - y).max() < 0.2 * abs(x).max()\n"
      "m = [f['survey'].attrs['spacing'] * f['survey/source_location'][:] for f in (a, b)]\n"
      "assert abs(m[0] - m[1]).max() < 1e-9\n",
      folder_.path().string());
  // Records of the chosen grid are records of the same survey.
  EXPECT_EQ(command({"gradient", timed, "--observed", file("chosen.h5"), "-o", file("g.h5")}).status, 0);
}

TEST_F(MaxwellProgram, AnAccuracyIsWrittenIntoARunFile) {
  testing::python(write_strip, folder_.path().string());
  ASSERT_EQ(command({"init", file("strip.h5"), "--accuracy", "0.3%", "-o", file("made.toml")}).status, 0);
  ASSERT_EQ(command({"run", file("made.toml"), "-o", file("made.h5")}).status, 0);
  ASSERT_EQ(command({"run", file("strip.h5"), "--accuracy", "0.3%", "-o", file("chosen.h5")}).status, 0);
  testing::python(
      "import sys, h5py\n"
      "a, b = (h5py.File(f'{sys.argv[1]}/{name}.h5')['receivers/data'][:] for name in ('made', 'chosen'))\n"
      "assert a.shape == b.shape and (a == b).all()\n",
      folder_.path().string());
}

}  // namespace
}  // namespace sonde
