// SPDX-License-Identifier: Apache-2.0
// Models of gprMax as a user runs them: files, what is in them, pictures, and what a run that was broken off leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/maxwell.h"
#include "tests/support/places.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::Ended;
using ::testing::HasSubstr;
using testing::MaxwellProgram;
using testing::Program;
using testing::sand_model;

// What a script begins with: the samples of a component of a file in the folder.
const std::string read_ez =
    "import sys, h5py, numpy as np\n"
    "def trace(name, component='Ez'):\n"
    "    with h5py.File(sys.argv[1] + '/' + name) as file: return file['rxs/rx1/' + component][:].astype(float)\n"
    "def differ(a, b): return abs(a - b).max() / abs(b).max()\n";

TEST_F(MaxwellProgram, ARunWritesTheFileOfGprmax) {
  ASSERT_EQ(command({"run", model(), "-o", file("run.out")}).status, 0);
  // The step is 1 / (c sqrt(2 / d^2)), a window has ceil(t / dt) + 1 samples (user guide of gprMax).
  testing::python(read_ez +
                      "file = h5py.File(sys.argv[1] + '/run.out')\n"
                      "dt = 0.005 / (299792458 * np.sqrt(2)); count = int(np.ceil(4e-9 / dt)) + 1\n"
                      "a = file.attrs\n"
                      "assert a['gprMax'].startswith('3.1.7 (sonde'), a['gprMax']\n"
                      "assert a['Title'] == 'A rod in sand' and a['Iterations'] == count\n"
                      "assert abs(a['dt'] / dt - 1) < 1e-12\n"
                      "assert list(a['nx_ny_nz']) == [60, 60, 1] and np.allclose(a['dx_dy_dz'], 0.005)\n"
                      "assert a['nsrc'] == a['nrx'] == 1 and list(a['rxsteps']) == [2, 0, 0]\n"
                      "assert file['srcs/src1'].attrs['Type'] == 'HertzianDipole'\n"
                      "assert np.allclose(file['rxs/rx1'].attrs['Position'], [0.15, 0.2, 0])\n"
                      "fields = file['rxs/rx1']\n"
                      "assert sorted(fields) == ['Ex', 'Ey', 'Ez', 'Hx', 'Hy', 'Hz']\n"
                      "assert all(f.shape == (count,) and f.dtype == 'f4' for f in fields.values())\n"
                      "assert all(not fields[c][:].any() for c in ('Ex', 'Ey', 'Hz'))\n"
                      "assert all(fields[c][:].any() for c in ('Ez', 'Hx', 'Hy'))\n",
                  folder_.path().string());
}

TEST_F(MaxwellProgram, NothingArrivesBeforeLight) {
  ASSERT_EQ(command({"run", model(), "-o", file("run.out"), "--dtype", "f64"}).status, 0);
  // 50 mm are 10 cells, and a wave of order 2 enters a cell in each step: exact zeros before step 10.
  testing::python(read_ez + "ez = trace('run.out'); assert not ez[:10].any() and ez[11:].any()\n",
                  folder_.path().string());
}

TEST_F(MaxwellProgram, SwappingSourceAndReceiverChangesNothing) {
  std::string swapped = sand_model();
  swapped.replace(swapped.find("z 0.100"), 7, "z 0.150");
  swapped.replace(swapped.find("#rx: 0.150"), 10, "#rx: 0.100");
  ASSERT_EQ(command({"run", model(), "-o", file("a.out"), "--dtype", "f64"}).status, 0);
  ASSERT_EQ(command({"run", model(swapped, "b.in"), "-o", file("b.out"), "--dtype", "f64"}).status, 0);
  // Samples are rounded to float32 in the file.
  testing::python(read_ez + "assert differ(trace('a.out'), trace('b.out')) < 2e-7\n", folder_.path().string());
}

TEST_F(MaxwellProgram, SeveralRunsHaveNumberedFilesAndAMergedOne) {
  ASSERT_EQ(command({"run", model(), "-n", "3", "-o", file("line.out")}).status, 0);
  EXPECT_THAT(names(), ElementsAre("line1.out", "line2.out", "line3.out", "line_merged.out", "model.in"));
  testing::python(read_ez +
                      "whole = trace('line_merged.out')\n"
                      "assert whole.shape[1] == 3\n"
                      "for run in range(3):\n"
                      "    name = f'line{run + 1}.out'\n"
                      "    assert np.array_equal(whole[:, run], trace(name))\n"
                      "    place = h5py.File(sys.argv[1] + '/' + name)['rxs/rx1'].attrs['Position']\n"
                      "    assert np.allclose(place, [0.15 + 0.01 * run, 0.2, 0])\n",
                  folder_.path().string());
}

TEST_F(MaxwellProgram, EveryRunOfALineIsThatOfAModelMovedAsFar) {
  std::string moved = sand_model();
  moved.replace(moved.find("z 0.100"), 7, "z 0.120");
  moved.replace(moved.find("#rx: 0.150"), 10, "#rx: 0.170");
  ASSERT_EQ(command({"run", model(), "-n", "3", "-o", file("line.out")}).status, 0);
  ASSERT_EQ(command({"run", model(moved, "moved.in"), "-o", file("moved.out")}).status, 0);
  testing::python(read_ez + "assert np.array_equal(trace('line3.out'), trace('moved.out'))\n", folder_.path().string());
}

TEST_F(MaxwellProgram, TheReportSaysHowManyStepsWentThroughMemoryTogether) {
  const std::string read =
      "import json, sys\nreports = [json.load(open(sys.argv[1] + n)) for n in ('/a.json', '/b.json')]\n"
      "together = [c['value'] for r in reports for c in r['choices'] if c['what'] == 'steps together']\n"
      "assert together[0] > 1 and together[1] == 1, together\n";
  ASSERT_EQ(command({"run", model(), "-o", file("a.out"), "--report", file("a.json")}).status, 0);
  ASSERT_EQ(command({"run", model(), "-o", file("b.out"), "--report", file("b.json"), "--snapshots", file("frames.h5")})
                .status,
            0);
  testing::python(read, folder_.path().string());
  testing::python(read_ez + "assert np.array_equal(trace('a.out'), trace('b.out'))\n", folder_.path().string());
}

TEST_F(MaxwellProgram, WithoutAnOutputTracesAreBesideTheModel) {
  ASSERT_EQ(command({"run", model()}).status, 0);
  ASSERT_EQ(command({"run", model(), "-n", "2"}).status, 0);
  EXPECT_THAT(names(), ElementsAre("model.in", "model.out", "model1.out", "model2.out", "model_merged.out"));
}

TEST_F(MaxwellProgram, WithoutAnOutputAPictureIsBesideItsFileAndReplacesOnlyPicturesOfSonde) {
  ASSERT_EQ(command({"run", model(), "-o", file("run.out")}).status, 0);
  const Ended plotted = command({"plot", file("run.out")});
  ASSERT_EQ(plotted.status, 0) << plotted.err;
  EXPECT_TRUE(fs::exists(file("run.gp")) && fs::exists(file("run.chart.json")));
  testing::write_bytes(file("run.gp"), {'m', 'i', 'n', 'e'});
  EXPECT_EQ(command({"plot", file("run.out")}).status, 3);
  EXPECT_EQ(testing::read_bytes(file("run.gp")).size(), 4u);
}

TEST_F(MaxwellProgram, TheModelOfTheGuideIsTheExample) {
  const auto text = [](const std::string& name) {
    std::ifstream in(testing::source_folder() + name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string example = text("/examples/cylinder.in");
  ASSERT_FALSE(example.empty());
  const std::string behind_licence = example.substr(example.find('\n') + 1);
  EXPECT_THAT(text("/docs/maxwell.md"), HasSubstr("```\n" + behind_licence + "```\n"));
  EXPECT_EQ(command({"run", model(example, "cylinder.in"), "-n", "2"}).status, 0);
}

TEST_F(MaxwellProgram, NamesThatNobodyGaveReplaceTracesOfSondeOnly) {
  const std::string in = model();
  std::ofstream(file("model.out")) << "traces of another program";
  Ended ended = command({"run", in});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("model.out"));
  std::string kept;
  std::getline(std::ifstream(file("model.out")) >> std::ws, kept);
  EXPECT_EQ(kept, "traces of another program");
  ended = command({"run", in, "-n", "2", "-o", file("line.out")});  // line1.out is free
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(command({"run", in, "-o", file("model.out")}).status, 0);  // named: replaced
  EXPECT_EQ(command({"run", in}).status, 0);                           // now a file of sonde
}

TEST_F(MaxwellProgram, AModelMayNameTheFolderOfItsTraces) {
  fs::create_directory(file("results"));
  ASSERT_EQ(command({"run", model(sand_model("#output_dir: results\n"))}).status, 0);
  EXPECT_TRUE(fs::exists(file("results/model.out")));
}

TEST_F(MaxwellProgram, OtherEndingsHaveAllRunsAsArrays) {
  ASSERT_EQ(command({"run", model(), "-n", "2", "-o", file("line.out")}).status, 0);
  for (const char* name : {"line.h5", "line.nc", "line.npz"})
    ASSERT_EQ(command({"run", model(), "-n", "2", "-o", file(name)}).status, 0) << name;
  testing::python(read_ez +
                      "whole, d = trace('line_merged.out'), sys.argv[1]\n"
                      "for f in (h5py.File(d + '/line.h5'), h5py.File(d + '/line.nc'), np.load(d + '/line.npz')):\n"
                      "    assert f['Ez'].shape == (len(whole), 2, 1)\n"
                      "    assert differ(f['Ez'][:, :, 0], whole) < 1e-7\n"
                      "    assert np.allclose(f['receiver_position'][:, 0, 0], [0.15, 0.16])\n"
                      "h5 = h5py.File(d + '/line.h5')\n"
                      "assert h5['Hx'].attrs['units'] in ('A/m', b'A/m')\n"
                      "assert list(h5['Ez'].attrs['DIMENSION_LABELS']) == ['time', 'run', 'receiver']\n",
                  folder_.path().string());
}

TEST_F(MaxwellProgram, PicturesAreDrawnByARunAndOfItsFiles) {
  ASSERT_EQ(command({"run", model(), "-o", file("run.out"), "--plot", file("run.png")}).status, 0);
  ASSERT_EQ(command({"run", model(), "-n", "3", "-o", file("line.h5"), "--plot", file("line.png")}).status, 0);
  ASSERT_EQ(command({"plot", file("run.out"), "-o", file("hx.svg"), "--component", "Hx"}).status, 0);
  for (const char* name : {"run.png", "line.png", "hx.svg"}) EXPECT_GT(fs::file_size(file(name)), 1000U) << name;
}

TEST_F(MaxwellProgram, ADryRunShowsThePlanAndWritesNothing) {
  const Ended ended = command(
      {"run", model(), "-n", "3", "-o", file("line.out"), "--plot", file("line.png"), "--order", "4", "--dry-run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out + ended.err, HasSubstr("60 x 60 x 1"));
  EXPECT_THAT(ended.out + ended.err, HasSubstr("stencils of order 4 need them"));
  EXPECT_THAT(ended.out + ended.err, HasSubstr("cells per wavelength"));
  EXPECT_THAT(names(), ElementsAre("model.in"));
}

TEST_F(MaxwellProgram, HigherOrdersKeepTheStepsOfTheFileAndNearlyTheTrace) {
  for (const char* order : {"2", "4", "6", "8"})
    ASSERT_EQ(command({"run", model(), "-o", file(std::string("order") + order + ".out"), "--order", order}).status, 0);
  // At the centre of the spectrum, 30 cells per wavelength, waves of order 2 are 0.17 % slow: a phase of 0.016 over the
  // one and a half wavelengths to the rod and back; three times that for the highest frequencies.
  testing::python(read_ez +
                      "two, four, six, eight = (trace(f'order{n}.out') for n in (2, 4, 6, 8))\n"
                      "assert len(two) == len(four) == len(eight)\n"
                      "assert 1e-4 < differ(two, eight) < 0.05, differ(two, eight)\n"
                      "assert differ(six, eight) < differ(four, eight) < differ(two, eight)\n",
                  folder_.path().string());
}

TEST_F(MaxwellProgram, SingleAndDoublePrecisionAgree) {
  ASSERT_EQ(command({"run", model(), "-o", file("single.out")}).status, 0);
  ASSERT_EQ(command({"run", model(), "-o", file("double.out"), "--dtype", "f64"}).status, 0);
  // 340 steps of a few roundings of 6e-8 each, which add up like a random walk: 1e-6, with a margin.
  testing::python(read_ez + "assert differ(trace('single.out'), trace('double.out')) < 1e-5\n",
                  folder_.path().string());
}

TEST_F(MaxwellProgram, LayersOfEveryPresetAbsorb) {
  for (const char* preset : {"gprmax", "tide", "default"})
    ASSERT_EQ(command({"run", model(), "-o", file(std::string(preset) + ".out"), "--pml-preset", preset}).status, 0);
  // Ten cells reflect -60 dB or less where waves arrive steeply (docs/maxwell.md).
  testing::python(read_ez +
                      "file = trace('gprmax.out')\n"
                      "for name in ('tide.out', 'default.out'): assert 0 < differ(trace(name), file) < 1e-3, name\n",
                  folder_.path().string());
}

TEST_F(MaxwellProgram, ThreadsChangeNoBit) {
  ASSERT_EQ(command({"run", model(), "-o", file("one.out"), "--threads", "1"}).status, 0);
  ASSERT_EQ(command({"run", model(), "-o", file("three.out"), "--threads", "3"}).status, 0);
  testing::python(read_ez + "assert np.array_equal(trace('one.out'), trace('three.out'))\n", folder_.path().string());
}

TEST_F(MaxwellProgram, ResultsSayWhatRan) {
  const Value found = results({"run", model(), "-n", "2", "-o", file("line.out")});
  EXPECT_EQ(text_at(found, "title"), "A rod in sand");
  EXPECT_EQ(number_at(found, "runs"), 2);
  EXPECT_EQ(number_at(found, "cells"), 3600);
  EXPECT_EQ(found.find("files")->items().size(), 3U);
}

TEST_F(MaxwellProgram, CoarseCellsRunWhenForced) {
  std::string coarse = sand_model();
  coarse.replace(coarse.find("ricker 1 1e9"), 12, "ricker 1 4e9");
  ASSERT_EQ(command({"run", model(coarse), "-o", file("run.out"), "--force"}).status, 0);
  EXPECT_TRUE(fs::exists(file("run.out")));
}

TEST_F(MaxwellProgram, ARunThatIsBrokenOffLeavesNothing) {
  std::string endless = sand_model();
  endless.replace(endless.find("#time_window: 4e-9"), 18, "#time_window: 400000");
  const std::string input = model(endless);
  for (const auto& [signal, status] : {std::pair{SIGINT, 130}, {SIGTERM, 143}}) {
    const Program program({"maxwell", "run", input, "-n", "2", "-o", file("line.out"), "--plot", file("line.png")});
    while (program.error_so_far().find("peak") == std::string::npos) usleep(10000);  // the plan is shown
    usleep(200000);
    kill(program.id(), signal);
    EXPECT_EQ(program.wait().status, status);
    EXPECT_THAT(names(), ElementsAre("model.in"));
  }
}

/// A pulse through 0.72 m of sand, on cells of this many mm.
std::string pulse_through_sand(const std::string& spacing) {
  return "#domain: 1.440 0.720 " + spacing + "\n#dx_dy_dz: " + spacing + " " + spacing + " " + spacing +
         "\n#time_window: 14e-9\n#material: 6 0 1 0 sand\n#box: 0 0 0 1.440 0.720 " + spacing +
         " sand\n#waveform: ricker 1 600e6 pulse\n#hertzian_dipole: z 0.360 0.360 0 pulse\n#rx: 1.080 0.360 0\n";
}

TEST_F(MaxwellProgram, AnAccuracyFindsTheArrivalOfFineCells) {
  // Cells of 20 mm have 3.7 to a wavelength: order 2 is refused, and forced its extreme is at 8.96 ns.
  ASSERT_EQ(command({"run", model(pulse_through_sand("0.020"), "coarse.in"), "--accuracy", "0.5%"}).status, 0);
  ASSERT_EQ(command({"run", model(pulse_through_sand("0.005"), "fine.in"), "--order", "4"}).status, 0);
  // 14 wavelengths of the highest frequency: 0.5 % are 0.04 ns of 8.
  testing::python(read_ez +
                      "def arrival(name):\n"
                      "    ez = trace(name)\n"
                      "    return abs(ez).argmax() * h5py.File(sys.argv[1] + '/' + name).attrs['dt']\n"
                      "assert abs(arrival('coarse.out') - arrival('fine.out')) < 5e-11\n"
                      "assert abs(np.ptp(trace('coarse.out')) / np.ptp(trace('fine.out')) - 1) < 0.05\n",
                  folder_.path().string());
}

TEST_F(MaxwellProgram, AnAccuracySaysWhatItChoseAndWhatElseThereIs) {
  const Ended ended = command({"run", model(), "--accuracy", "0.2%", "--dry-run"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  for (const char* said : {"phase velocity within 0.2 %", "as the model is", "chosen", "not as accurate",
                           "at the end of the window", "as with #dx_dy_dz: ", "accuracy: \"order "})
    EXPECT_THAT(ended.err + ended.out, HasSubstr(said));
}

TEST_F(MaxwellProgram, AnAccuracyOfOneOrderTakesThatOrder) {
  const Ended ended = command({"run", model(), "--accuracy", "0.2%", "--order", "8", "--dry-run"});
  EXPECT_THAT(ended.err + ended.out, HasSubstr("accuracy: \"order 8, "));
}

TEST_F(MaxwellProgram, AnAccuracyThatNoGridHasIsRefused) {
  expect_refused({{"run", model(), "--accuracy", "1"}, 2, "--accuracy: \"1\"; expected a percentage above 0"});
  const std::string thin = model(sand_model("#plate: 0.1 0.15 0 0.2 0.15 0.005 pec\n"), "plate.in");
  expect_refused({{"run", thin, "--accuracy", "0.0001%"}, 3, "no grid has a phase velocity within 0.0001 %"});
  expect_refused({{"run", thin, "--accuracy", "0.0001%"}, 3, "its cells keep their size: plates and edges"});
}

}  // namespace
}  // namespace sonde
