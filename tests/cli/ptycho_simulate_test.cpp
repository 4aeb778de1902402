// SPDX-License-Identifier: Apache-2.0
// Simulated scans as a user makes them, and what else reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/program.h"
#include "tests/cli/ptycho_simulated.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::run;

class PtychoSimulate : public testing::OnSimulatedScan {
 protected:
  /// 36 patterns of 32 x 32 pixels.
  [[nodiscard]] Ended simulate(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--scan-shape", "6,6", "--scan-step-A", "0.8"});
    return OnSimulatedScan::simulate(std::move(more));
  }
  [[nodiscard]] Ended reconstruct(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"ptycho", "run", file("scan.h5"), "-o", file("result.h5")});
    return run(more);
  }
};

using PtychoScanFile = PtychoSimulate;

TEST_F(PtychoSimulate, CountsAreThoseOfTheTruthByNumPy) {
  const Ended ended = simulate({"--whole-pixels", "--occupancies", "0.8,0.2", "--dead-pixels", "9"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  // Reduced chi square over pixels of more than 5 counts: the variance of one term is 2 + 1/mean < 2.2, and there are
  // more than 10000 of them, so 4 standard errors are 0.06.
  EXPECT_EQ(change("scan.h5",
                   "d, p, o = f['data'][()], f['truth/probe'][()], np.exp(1j * f['truth/object_phase'][0])\n"
                   "  m, n, r = f['mask'][()] > 0, 32, f['truth/positions_px'][()].astype(int) - 16\n"
                   "  chi = []\n"
                   "  for j in range(36):\n"
                   "    y, x = r[j]\n"
                   "    e = (abs(np.fft.fft2(p * o[y:y+n, x:x+n])) ** 2).sum(0) / n ** 2\n"
                   "    e, c = np.fft.fftshift(e), d[j // 6, j % 6].astype(float)\n"
                   "    use = m & (e > 5)\n"
                   "    chi += list((c[use] - e[use]) ** 2 / e[use])\n"
                   "    assert not c[~m].any()\n"
                   "  print(len(chi) > 10000, abs(np.mean(chi) - 1) < 0.06, (~m).sum())\n"),
            "True True 9\n");
}

TEST_F(PtychoSimulate, TheSameSettingsGiveTheSameCounts) {
  ASSERT_EQ(simulate({"--seed", "4"}).status, 0);
  fs::rename(file("scan.h5"), file("first.h5"));
  ASSERT_EQ(simulate({"--seed", "4"}).status, 0);
  fs::rename(file("scan.h5"), file("second.h5"));
  ASSERT_EQ(simulate({"--seed", "5"}).status, 0);
  EXPECT_EQ(testing::python("import sys, h5py, numpy as np\n"
                            "a, b, c = (h5py.File(sys.argv[1] + n)['data'][()] for n in ('/first.h5', '/second.h5', "
                            "'/scan.h5'))\n"
                            "print((a == b).all(), (a == c).all())\n",
                            folder_.path().string()),
            "True False\n");
}

TEST_F(PtychoSimulate, SettingsComeFromAFileAndFlagsCountMore) {
  std::ofstream(file("sim.toml")) << "detector_px = 16\nscan_shape = [3, 4]\n[ptycho.simulate]\nseed = 9\n";
  for (const std::vector<std::string>& named :
       {std::vector<std::string>{file("sim.toml")}, std::vector<std::string>{"--config", file("sim.toml")}}) {
    std::vector<std::string> words{"ptycho", "simulate", "-o", file("scan.h5"), "--detector-px", "24"};
    words.insert(words.end(), named.begin(), named.end());
    const Ended ended = run(words);
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(
        change("scan.h5", "import json\n  print(f['data'].shape, json.loads(f['truth/parameters'][()])['seed'])\n"),
        "(3, 4, 24, 24) 9\n");
  }
}

TEST_F(PtychoSimulate, DryRunTellsTheOverlapAndWritesNothing) {
  const Ended ended = simulate({"--dry-run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("overlap: "), HasSubstr("36 of 32 x 32 pixels"), HasSubstr("object pixel")));
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(PtychoSimulate, WrongSettingsAreToldAndNothingIsLeftBehind) {
  struct Case {
    std::vector<std::string> more;
    int status;
    const char* text;
  };
  std::ofstream(file("wrong.toml")) << "detector_pixels = 32\n";
  for (const Case& c : {
           Case{{file("missing.toml")}, 3, "missing.toml"},
           Case{{file("wrong.toml")}, 3, "unknown key \"detector_pixels\" in"},
           Case{{file("wrong.toml"), "--config", file("wrong.toml")}, 2, "settings are named twice"},
           Case{{"--lattice", "cubic"}, 2, "unknown word \"cubic\""},
           Case{{"--drift-A", "0.5"}, 2, "--drift-A \"0.5\": expected two numbers"},
           Case{{"--semiangle-mrad", "90"}, 3, "reaches to 60 mrad"},
           Case{{"--counts-per-frame", "1e8"}, 3, "16 bits cannot hold"},
           Case{{"--memory", "64k"}, 4, "hint: make the scan smaller"},
       }) {
    SCOPED_TRACE(c.text);
    const Ended ended = simulate(c.more);
    EXPECT_EQ(ended.status, c.status) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(c.text));
    EXPECT_FALSE(fs::exists(file("scan.h5")));
  }
  fs::remove(file("wrong.toml"));
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  const Ended nowhere = run({"ptycho", "simulate", "-o", file("no/scan.h5")});
  EXPECT_EQ(nowhere.status, 5);
  EXPECT_THAT(nowhere.err, HasSubstr("there is no folder"));
}

TEST_F(PtychoScanFile, RunsWithoutARunFile) {
  ASSERT_EQ(simulate({"--transpose", "--scan-rotation-deg", "30", "--jitter-A", "0.1"}).status, 0);
  const Ended ended = reconstruct({"--set", "engine.0.iterations=5"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("sonde scan"), HasSubstr("the data file has a probe")));
  // Wavelength at 200 keV over the detector's 120 mrad; positions are the nominal raster, transposed, then turned
  // about its mean, counter-clockwise with rows upwards.
  EXPECT_EQ(testing::python("import sys, h5py, numpy as np\n"
                            "f = h5py.File(sys.argv[1])\n"
                            "print(abs(f['object'].attrs['pixel_size_A'][0] - 0.02507934 / 0.12) < 1e-7)\n"
                            "y, x = (a.ravel() * 0.8 for a in np.mgrid[0:6, 0:6])\n"
                            "y, x = x - x.mean(), y - y.mean()\n"
                            "c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)\n"
                            "p = f['positions_initial_A'][()]; p = p - p.mean(0)\n"
                            "print(abs(p - np.stack([y * c - x * s, x * c + y * s], 1)).max() < 1e-9)\n"
                            "r = f['metrics/R_I'][()]; print(len(r), r[-1] < r[0])\n",
                            file("result.h5")),
            "True\nTrue\n5 True\n");
}

TEST_F(PtychoScanFile, InitTakesWhatItSaysIntoTheRunFile) {
  ASSERT_EQ(simulate().status, 0);
  ASSERT_EQ(run({"ptycho", "init", file("scan.h5"), "--engine", "gd", "-o", file("run.toml")}).status, 0);
  std::ifstream stream(file("run.toml"));
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_THAT(text, AllOf(HasSubstr("\nenergy_keV = 200.0"), HasSubstr("\nsemiangle_mrad = 20.0"),
                          HasSubstr("\ndetector_mrad_per_px = 3.75")));
  EXPECT_EQ(run({"ptycho", "run", file("run.toml"), "--set", "engine.0.iterations=1", "-o", file("result.h5")}).status,
            0);
}

TEST_F(PtychoScanFile, SettingsCountMoreThanTheFile) {
  ASSERT_EQ(simulate().status, 0);
  // As a plain raster of the one data set, without positions, mask and probe of the file.
  const Ended ended =
      reconstruct({"--set", "data.format=plain", "--set", "data.patterns=data", "--set", "geometry.energy_keV=200",
                   "--set", "geometry.detector_mrad_per_px=3.75", "--set", "geometry.semiangle_mrad=20", "--set",
                   "geometry.scan_step_A=0.9", "--set", "engine.0.iterations=1"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("plain HDF5"), HasSubstr("energy and semiangle are known")));
  EXPECT_EQ(testing::python("import sys, h5py\n"
                            "p = h5py.File(sys.argv[1])['positions_initial_A'][()]\n"
                            "print(round(p[1, 1] - p[0, 1], 6))\n",
                            file("result.h5")),
            "0.9\n");
}

TEST_F(PtychoScanFile, WhatIsMissingOrWrongIsNamed) {
  struct Case {
    const char* code;
    const char* text;
  };
  for (const Case& c : {
           Case{"del f['data'].attrs['energy_keV']", "scan.h5:/data: no attribute energy_keV"},
           Case{"d = f['data'][()]; del f['data']", "no data set \"/data\""},
           Case{"d = f['data'][()]; del f['data']; f['data'] = d[0]", "expected counts (scan rows, scan columns"},
           Case{"del f['mask']; f['mask'] = np.ones((3, 32))", "/mask: a mask of (3, 32) for a detector of (32, 32)"},
           Case{"del f['probe']; f['probe'] = np.ones((1, 3, 32))", "/probe: shape (1, 3, 32), expected"},
           Case{"del f['positions_A']; f['positions_A'] = np.ones((35, 2))", "35 positions for 36 frames"},
           Case{"f['data'].attrs['energy_keV'] = -1.0", "energy"},
       }) {
    SCOPED_TRACE(c.text);
    ASSERT_EQ(simulate().status, 0);
    change("scan.h5", c.code);
    const Ended ended = reconstruct();
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(c.text));
    EXPECT_FALSE(fs::exists(file("result.h5")));
  }
  EXPECT_EQ(run({"ptycho", "run", file("nothing.h5")}).status, 3);
}

}  // namespace
}  // namespace sonde
