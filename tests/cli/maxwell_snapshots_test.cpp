// SPDX-License-Identifier: Apache-2.0
// Snapshots, frames and views of the geometry as a user asks for them: files, what is in them, pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "tests/cli/maxwell.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::Ended;
using ::testing::HasSubstr;
using testing::MaxwellProgram;
using testing::Program;
using testing::sand_model;

const std::string with_files = sand_model(
    "#snapshot: 0 0 0 0.3 0.3 0.005 0.01 0.01 0.005 2e-9 slice\n"
    "#snapshot: 0 0 0 0.3 0.3 0.005 0.005 0.005 0.005 200 slice.vti\n"
    "#geometry_view: 0 0 0 0.3 0.3 0.005 0.005 0.005 0.005 ground n\n");

TEST_F(MaxwellProgram, FramesHoldTheTraceOfEveryNode) {
  ASSERT_EQ(command({"run", model(), "-o", file("run.out"), "--dtype", "f64", "--snapshots", file("frames.h5"),
                     "--snapshot-every", "10", "--snapshot-step", "2,3"})
                .status,
            0);
  // The receiver is at node 30, 40: sample 10 of every third, 20 of every second one.
  testing::python(
      "import sys, h5py, numpy as np\n"
      "run, frames = (h5py.File(sys.argv[1] + name) for name in ('/run.out', '/frames.h5'))\n"
      "ez = run['rxs/rx1/Ez'][:]; seen = frames['Ez']\n"
      "assert seen.shape == (34, 1, 30, 20) and seen.dtype == 'f8', seen.shape\n"
      "assert np.allclose([frames['x'][10], frames['y'][20]], [0.15, 0.2])\n"
      "assert np.array_equal(seen[:, 0, 20, 10].astype('f4'), ez[:340:10]) and ez.any()\n"
      "assert np.allclose(frames['time'], np.arange(34) * 10 * run.attrs['dt'])\n"
      "assert list(frames['Ez'].attrs['DIMENSION_LABELS']) == ['time', 'z', 'y', 'x']\n",
      folder_.path().string());
}

TEST_F(MaxwellProgram, TheEnergyInAClosedBoxStays) {
  // Conducting walls, no loss, and a pulse that is over after 2.2 ns.
  ASSERT_EQ(command({"run",
                     model("#domain: 0.3 0.25 0.005\n#dx_dy_dz: 0.005 0.005 0.005\n#time_window: 6e-9\n#pml_cells: 0\n"
                           "#waveform: gaussiandot 1 1e9 w\n#hertzian_dipole: z 0.1 0.1 0 w 0 2.2e-9\n#rx: 0.2 0.2 0\n"
                           "#material: 5 0 1 0 a\n#box: 0.15 0 0 0.3 0.25 0.005 a\n"),
                     "-o", file("run.out"), "--dtype", "f64", "--snapshots", file("frames.h5"), "--snapshot-step", "9"})
                .status,
            0);
  testing::python(
      "import sys, h5py, numpy as np\n"
      "f = h5py.File(sys.argv[1] + '/frames.h5')\n"
      "energy = f['energy_electric'][:] + f['energy_magnetic'][:]\n"
      "after = energy[f['time'][:] > 2.3e-9]\n"
      "assert len(after) > 50 and after[0] > 0\n"
      "assert abs(after / after[0] - 1).max() < 1e-12, after\n",  // rounding of 500 steps
      folder_.path().string());
}

TEST_F(MaxwellProgram, AModelNamesItsSnapshotsAndViews) {
  ASSERT_EQ(command({"run", model(with_files)}).status, 0);
  for (const char* name : {"model_snaps/slice.h5", "model_snaps/slice.vti", "ground.vti", "ground.png"})
    EXPECT_TRUE(fs::exists(file(name))) << name;
  // Four corners of a cell of two nodes, before step 170 counted from 1.
  ASSERT_EQ(
      command({"run", model(), "-o", file("f.out"), "--snapshots", file("frames.h5"), "--snapshot-every", "1"}).status,
      0);
  testing::python(
      "import sys, h5py, numpy as np\n"
      "slice, frames = (h5py.File(sys.argv[1] + name) for name in ('/model_snaps/slice.h5', '/frames.h5'))\n"
      "step = round(slice['time'][0] / frames['time'][1])\n"
      "assert step == round(2e-9 / frames['time'][1])\n"
      "e = np.pad(frames['Ez'][step, 0].astype(float), ((0, 1), (0, 1)))[::2, ::2]\n"
      "mean = (e[:-1, :-1] + e[1:, :-1] + e[:-1, 1:] + e[1:, 1:]) / 4\n"
      "assert mean.any() and np.allclose(slice['Ez'][0, 0], mean, rtol=1e-6, atol=1e-6 * abs(mean).max())\n",
      folder_.path().string());
}

TEST_F(MaxwellProgram, EveryRunOfALineHasItsFolderOfSnapshots) {
  ASSERT_EQ(command({"run", model(with_files), "-n", "2", "-o", file("line.out")}).status, 0);
  testing::python(
      "import sys, h5py\n"
      "a, b = (h5py.File(f'{sys.argv[1]}/line_snaps{run}/slice.h5')['Ez'][:] for run in (1, 2))\n"
      "assert a.any() and (a != b).any()\n",
      folder_.path().string());
}

TEST_F(MaxwellProgram, GeometryOnlyRunsNothing) {
  ASSERT_EQ(command({"run", model(with_files), "--geometry-only"}).status, 0);
  EXPECT_TRUE(fs::exists(file("ground.vti")));
  EXPECT_FALSE(fs::exists(file("model.out")));
  EXPECT_FALSE(fs::exists(file("model_snaps")));
  ASSERT_EQ(command({"run", file("model.in"), "--geometry-only"}).status, 0);  // its own file it may replace
}

TEST_F(MaxwellProgram, ViewsReplaceNoFilesOfOthers) {
  std::ofstream(file("ground.vti")) << "<VTKFile of another program>";
  const Ended ended = command({"run", model(with_files), "--geometry-only"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("ground.vti"));
}

TEST_F(MaxwellProgram, SnapshotsAndModelsBecomePictures) {
  ASSERT_EQ(command({"run", model(), "-o", file("run.out"), "--snapshots", file("frames.h5")}).status, 0);
  ASSERT_EQ(command({"plot", file("frames.h5"), "-o", file("all.png")}).status, 0);
  ASSERT_EQ(command({"plot", file("frames.h5"), "--frame", "40", "--component", "Hx", "-o", file("one.png")}).status,
            0);
  ASSERT_EQ(command({"plot", file("model.in"), "-o", file("model.png")}).status, 0);
  for (const char* name : {"all.png", "one.png", "model.png"}) EXPECT_GT(fs::file_size(file(name)), 1000U) << name;
  expect_refused(
      {{"plot", file("frames.h5"), "--frame", "400", "-o", file("a.png")}, 3, "frame 400: the file has 0 to"});
  expect_refused({{"plot", file("frames.h5"), "--shot", "1", "-o", file("a.png")}, 2, "frames.h5 has no shots"});
}

TEST_F(MaxwellProgram, FramesOfANativeModelAreThoseOfItsFirstShot) {
  const std::string strip =
      "[model]\neps_r = 4\nshape = [40, 30]\nspacing = 0.05\n"
      "[survey]\nsources = [10, 4, 20, 4]\nreceivers = [10, 24, 20, 24]\n"
      "[source]\nf0 = 100e6\n[time]\nnt = 120\n";
  ASSERT_EQ(command({"run", model(strip, "strip.toml"), "-o", file("a.h5"), "--snapshots", file("frames.h5"),
                     "--snapshot-every", "4", "--dtype", "f64"})
                .status,
            0);
  // A record of step n is E before step n + 1.
  testing::python(
      "import sys, h5py, numpy as np\n"
      "records, frames = (h5py.File(sys.argv[1] + name) for name in ('/a.h5', '/frames.h5'))\n"
      "ey = frames['Ey']\n"
      "assert ey.shape == (30, 40, 1, 30) and np.allclose(frames['z'], np.arange(40) * 0.05)\n"
      "data = records['receivers/data'][:, 0, :]\n"
      "assert np.allclose(ey[1:, 10, 0, 24], data[3:119:4, 0], rtol=0, atol=1e-12 * abs(data).max())\n"
      "assert data.any()\n",
      folder_.path().string());
  expect_refused({{"run", file("strip.toml"), "--geometry-only"}, 2, "--geometry-only is of models of gprMax"});
}

TEST_F(MaxwellProgram, ARunThatIsBrokenOffLeavesNoSnapshots) {
  std::string endless = with_files;
  endless.replace(endless.find("#time_window: 4e-9"), 18, "#time_window: 400000");
  const Program program(
      {"maxwell", "run", model(endless), "--snapshots", file("frames.h5"), "--snapshot-every", "100"});
  while (program.error_so_far().find("peak") == std::string::npos) usleep(10000);  // the plan is shown
  usleep(400000);
  kill(program.id(), SIGINT);
  EXPECT_EQ(program.wait().status, 130);
  EXPECT_THAT(names(), ::testing::ElementsAre("model.in"));
}

}  // namespace
}  // namespace sonde
