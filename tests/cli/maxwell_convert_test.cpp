// SPDX-License-Identifier: Apache-2.0
// Traces from one format to another, and what is said of those that cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/maxwell.h"
#include "tests/support/data.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::Ended;
using ::testing::HasSubstr;
using testing::MaxwellProgram;

class MaxwellConvert : public MaxwellProgram {
 protected:
  /// Three runs, in line_merged.out.
  void simulate() { ASSERT_EQ(command({"run", model(), "-o", file("line.out"), "-n", "3"}).status, 0); }
  void convert(std::vector<std::string> words) {
    words.insert(words.begin(), "convert");
    const Ended ended = command(words);
    ASSERT_EQ(ended.status, 0) << ended.err;
  }
};

TEST_F(MaxwellConvert, FilesOfGprmaxPassThroughHdf5) {
  simulate();
  for (const std::string name : {"line1", "line_merged"}) {
    SCOPED_TRACE(name);
    convert({file(name + ".out"), file("all.h5")});
    convert({file("all.h5"), file("back.out")});
    testing::python(
        "import sys, h5py, numpy as np\n"
        "folder, name = sys.argv[1].rsplit(' ', 1)\n"
        "a, b = (h5py.File(folder + '/' + each + '.out') for each in (name, 'back'))\n"
        "assert {k: v for k, v in a.attrs.items() if np.ndim(v) == 0} == {k: v for k, v in b.attrs.items() if "
        "np.ndim(v) == 0}\n"
        "assert all((a.attrs[k] == b.attrs[k]).all() for k in ('nx_ny_nz', 'dx_dy_dz', 'srcsteps', 'rxsteps'))\n"
        "for c in ('Ex', 'Ey', 'Ez', 'Hx', 'Hy', 'Hz'):\n"
        "    np.testing.assert_array_equal(a['rxs/rx1/' + c], b['rxs/rx1/' + c])\n"
        "np.testing.assert_allclose(a['rxs/rx1'].attrs['Position'], b['rxs/rx1'].attrs['Position'])\n"
        "assert a['srcs/src1'].attrs['Type'] == b['srcs/src1'].attrs['Type']\n",
        folder_.path().string() + " " + name);
  }
}

TEST_F(MaxwellConvert, ASimulatedLineIsAMeasuredOne) {
  simulate();
  convert({file("line_merged.out"), file("line.rd3"), "--component", "Ez"});
  testing::python(
      "import sys, h5py, numpy as np\n"
      "folder = sys.argv[1]\n"
      "ez = h5py.File(folder + '/line_merged.out')['rxs/rx1/Ez'][:]\n"
      "rad = dict(line.strip().split(':', 1) for line in open(folder + '/line.rad'))\n"
      "counts = np.fromfile(folder + '/line.rd3', '<i2').reshape(-1, int(rad['SAMPLES']))\n"
      "assert rad['LAST TRACE'] == '3' and abs(float(rad['DISTANCE INTERVAL']) - 0.01) < 1e-12\n"
      "assert abs(counts).max() == 32767\n"
      "scale = float(rad['AMPLITUDE SCALE'])\n"
      "assert abs(counts.T * scale - ez).max() < 0.51 * scale\n",
      folder_.path().string());
}

TEST_F(MaxwellConvert, WhatIsDoneAddsUpInTheFiles) {
  simulate();
  convert({file("line_merged.out"), file("a.dt1"), "--dewow", "0.5"});
  convert({file("a.dt1"), file("b.sgy"), "--background", "0"});
  const Ended ended = command({"convert", file("b.sgy"), file("c.h5"), "--gain", "1"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* step : {"did       dewow: less the mean of", "did       background: less the mean of all traces",
                           "did       gain: t and 1 dB/ns from 1 ns on"})
    EXPECT_THAT(ended.err, HasSubstr(step));
}

TEST_F(MaxwellConvert, AMeasuredLineIsDrawn) {
  SONDE_NEED_DATA(data);
  const std::string line = (data / "maxwell/field/SnS/WARR/XLINE00.DT1").string();
  const Ended ended = command({"plot", line, "-o", file("line.svg")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("are 158 traces; "));
  EXPECT_TRUE(fs::exists(file("line.svg")));
}

TEST_F(MaxwellConvert, NoOutputReplacesAnInput) {
  simulate();
  convert({file("line_merged.out"), file("a.dt1")});
  convert({file("a.dt1"), file("a.rd3")});
  const std::string kept = "an output never replaces an input";
  expect_refused({{"convert", file("a.dt1"), file("a.dt1")}, 3, kept});
  // The header is an input as well.
  expect_refused({{"convert", file("a.rd3"), file("a.rd7")}, 3, kept});
  expect_refused({{"convert", file("line1.out"), file("a.dt1"), "--subtract", file("a.dt1")}, 3, kept});
}

TEST_F(MaxwellConvert, WrongWordsAreNamed) {
  simulate();
  const std::string in = file("line_merged.out"), dt1 = file("a.dt1"), h5 = file("a.h5");
  convert({in, dt1});
  convert({in, h5, "--receiver", "1"});
  const auto bytes = testing::read_bytes(dt1);
  testing::write_bytes(file("cut.dt1"), {bytes.begin(), bytes.end() - 7});
  fs::copy(file("a.hd"), file("cut.hd"));
  for (const Wrong& c : std::vector<Wrong>{
           {{"convert", in}, 2, "output is missing"},
           {{"convert", in, file("a.xyz")},
            2,
            "traces are written as .dt1, .rd3, .rd7, .sgy, .segy, .h5, .nc, .npz or .out"},
           {{"convert", in, file("no/a.dt1")}, 5, "there is no folder"},
           {{"convert", file("none.dt1"), file("b.h5")}, 3, "none.dt1: no such file"},
           {{"convert", model(), file("b.h5")}, 3, "not an HDF5 file"},
           {{"convert", file("cut.dt1"), file("b.h5")}, 3, "--allow-truncated reads the whole traces"},
           {{"convert", dt1, file("b.out")}, 2, "one line is not written as a file of gprMax"},
           {{"convert", dt1, file("b.h5"), "--component", "Ez"}, 2, "a.dt1 has no field components"},
           {{"convert", h5, file("b.dt1"), "--receiver", "1"}, 2, "a.h5 has no receivers"},
           {{"convert", in, file("b.h5"), "--channel", "1"}, 2, "line_merged.out has no channels"},
           {{"plot", in, "-o", file("a.png"), "--shot", "2"}, 2, "line_merged.out has no shots"},
           {{"convert", in, file("b.h5"), "--component", "Ew"}, 2, "\"Ew\" is not a field component"},
           {{"convert", in, file("b.h5"), "--receiver", "2"}, 3, "receiver 2: the file has 1"},
           {{"convert", dt1, file("b.h5"), "--channel", "2"}, 3, "channel 2; " + dt1 + " has 1"},
           {{"convert", dt1, file("b.h5"), "--time-zero", "soon"}, 2, "\"soon\"; expected header, first-break or ns"},
           {{"convert", dt1, file("b.h5"), "--time-zero", "100"}, 3, "time zero at 100 ns; the record ends at"},
           {{"convert", dt1, file("b.h5"), "--dewow", "0"}, 3, "its nominal frequency is not known"},
           {{"convert", dt1, file("b.h5"), "--memory", "1k"}, 4, "the traces of " + dt1 + " need"},
           {{"convert", dt1, file("b.h5"), "--memory", "2M", "--resample", "0.00002"},
            4,
            "the traces at the new interval need"},
           {{"convert", dt1, file("b.h5"), "--subtract", file("line1.out"), "--resample", "1000"}, 3, "ns from"},
       })
    expect_refused(c);
}

}  // namespace
}  // namespace sonde
