// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/tiff.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/instruments/ptycho/results/export.h"
#include "sonde/instruments/ptycho/results/level_phase.h"
#include "sonde/instruments/ptycho/results/log.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/results/provenance.h"
#include "sonde/instruments/ptycho/results/result.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

/// 200 keV, object pixel 0.5 A, an object of 12 x 10 pixels with a phase that is 0.1 per row.
Result example(bool calibrated = true) {
  State state;
  state.object = Array(Device::cpu(), Shape{1, 12, 10}, DType::c64);
  auto object = state.object.view<complex64, 3>();
  for (Index r = 0; r < 12; ++r)
    for (Index c = 0; c < 10; ++c) object(0, r, c) = std::polar(0.9f, 0.1f * static_cast<float>(r));
  state.probe = Array(Device::cpu(), Shape{2, 4, 4}, DType::c64);
  auto probe = state.probe.view<complex64, 3>();
  for (Index i = 0; i < 16; ++i) {
    probe.data[i] = {3, 0};
    probe.data[16 + i] = {0, 1};
  }
  state.positions = {{4, 3}, {6.25, 5}, {7, 4}};
  Sampling sampling = pixel_sampling(4, 4);
  if (calibrated) sampling = {4, 4, 0.02508, 0.5, 0.5};
  IterationRecord record;
  record.number = 1;
  record.fit.r_intensity = 0.25;
  Result result = result_of(state, sampling, {3, 2}, {{1, 1}, {3, 3}, {4, 2}}, {record, record});
  result.settings = "[data]\nfile = \"x\"\n";
  result.provenance["seed"] = 7;
  return result;
}

TEST(Result, ReadsBackAsItWasWritten) {
  const TemporaryFolder folder;
  const Result written = example();
  write_result(folder.file("r.h5"), written);
  const Result read = read_result(folder.file("r.h5"));
  EXPECT_EQ(read.object.shape(), written.object.shape());
  EXPECT_EQ((read.object.view<complex128, 3>()(0, 5, 2)), complex128(written.object.view<complex64, 3>()(0, 5, 2)));
  EXPECT_EQ(read.origin, (Point{-3, -2}));
  EXPECT_EQ(read.positions, (std::vector<Point>{{1, 1}, {3.25, 3}, {4, 2}}));
  EXPECT_EQ(read.initial_positions, written.initial_positions);
  EXPECT_EQ(read.metrics.at("R_I"), (std::vector<double>{0.25, 0.25}));
  EXPECT_EQ(read.settings, written.settings);
  EXPECT_EQ(read.provenance, written.provenance);
  EXPECT_DOUBLE_EQ(read.sampling.wavelength, 0.02508);
  EXPECT_DOUBLE_EQ(read.sampling.pixel_row(), 0.5);
}

TEST(Result, SlicesHaveOneThicknessOrEachItsOwn) {
  const TemporaryFolder folder;
  for (const std::vector<double>& thickness : {std::vector<double>{}, {12.5}, {10, 20.5, 8}}) {
    Result written = example();
    written.slice_thickness_a = thickness;
    write_result(folder.file("r.h5"), written);
    EXPECT_EQ(read_result(folder.file("r.h5")).slice_thickness_a, thickness);
  }
}

TEST(Result, IsReadByH5pyInTheDocumentedLayout) {
  const TemporaryFolder folder;
  write_result(folder.file("r.h5"), example());
  EXPECT_EQ(sonde::testing::python(
                "import sys, h5py\n"
                "f = h5py.File(sys.argv[1])\n"
                "o, p = f['object'], f['probe']\n"
                "print(o.shape, o.dtype, o.attrs['type'].decode() if hasattr(o.attrs['type'], 'decode') else "
                "o.attrs['type'], list(o.attrs['pixel_size_A']), list(o.attrs['origin_A']))\n"
                "print(p.shape, p.dtype, [round(float(x), 6) for x in p.attrs['occupancy']])\n"
                "print(f['positions_A'][1].tolist(), f['positions_initial_A'].shape, int(f['fov_mask'][()].sum()))\n"
                "print(sorted(f), f['metrics/R_I'][()].tolist())\n",
                folder.file("r.h5")),
            "(1, 12, 10) complex64 complex [0.5, 0.5] [-1.5, -1.0]\n"
            "(1, 2, 4, 4) complex64 [0.9, 0.1]\n"
            "[1.625, 1.5] (3, 2) 12\n"
            "['diagnostics', 'fov_mask', 'metrics', 'object', 'positions_A', 'positions_initial_A', 'probe', "
            "'provenance', 'run', 'settings'] [0.25, 0.25]\n");
}

TEST(Result, WithoutCalibrationNothingIsInAngstrom) {
  const TemporaryFolder folder;
  write_result(folder.file("r.h5"), example(false));
  EXPECT_EQ(sonde::testing::python("import sys, h5py\n"
                                   "f = h5py.File(sys.argv[1])\n"
                                   "print([k for k in f if 'positions' in k], sorted(f['object'].attrs))\n",
                                   folder.file("r.h5")),
            "['positions_initial_px', 'positions_px'] ['DIMENSION_LABELS', 'origin_px', 'type']\n");
  EXPECT_FALSE(read_result(folder.file("r.h5")).sampling.calibrated());
}

TEST(Result, OtherFilesAreNamed) {
  const TemporaryFolder folder;
  sonde::testing::python("import sys, h5py\nh5py.File(sys.argv[1], 'w').create_dataset('x', data=[1])\n",
                         folder.file("a.h5"));
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)read_result(folder.file("a.h5")); }),
            "error: " + folder.file("a.h5") + ": no object and probe, so it is not a result of ptychography");
}

TEST(Picture, PhasesAreRelativeToTheirMean) {
  const Result result = example();
  const Box view = result.field_of_view();
  EXPECT_EQ(view, (Box{4, 3, 4, 3}));
  const Array phase = phase_image(result, view), amplitude = amplitude_image(result, view);
  // Rows 4 to 7: 0.1 rad apart, mean 0.55.
  EXPECT_NEAR((phase.view<float, 2>()(0, 0)), -0.15, 1e-6);
  EXPECT_NEAR((phase.view<float, 2>()(3, 2)), 0.15, 1e-6);
  EXPECT_NEAR((amplitude.view<float, 2>()(1, 1)), 0.9, 1e-6);
}

/// |sum P(r) O(r + at) exp(-i k r)|^2 at the frequency (k_row, k_col) of the window.
double intensity(const Result& of, Index mode, Index row, Index col, double k_row, double k_col) {
  const Array object = of.transmission();
  const auto o = object.view<complex128, 3>();
  const auto p = of.probe.view<complex64, 3>();
  complex128 sum = 0;
  for (Index r = 0; r < p.extent[1]; ++r)
    for (Index c = 0; c < p.extent[2]; ++c)
      sum += complex128(p(mode, r, c)) * o(0, row + r, col + c) *
             std::polar(1.0, -k_row * static_cast<double>(r) - k_col * static_cast<double>(c));
  return std::norm(sum);
}

TEST(LevelPhase, GivesTheRampToTheProbeAndLeavesThePatterns) {
  const Result before = example();
  Result after = example();
  ASSERT_TRUE(has_free_ramp(after));
  const PhaseRamp ramp = level_phase(after);
  EXPECT_NEAR(ramp.per_row, 0.1, 1e-6);  // single precision
  EXPECT_NEAR(ramp.per_col, 0, 1e-6);
  const Array phase = phase_image(after, after.field_of_view());
  for (Index row = 0; row < phase.shape()[0]; ++row) EXPECT_NEAR((phase.view<float, 2>()(row, 1)), 0, 1e-6);
  for (const Index mode : {0, 1})
    for (const double k : {-0.7, 0.0, 1.9}) {
      const double expected = intensity(before, mode, 3, 2, k, 0.4);
      EXPECT_NEAR(intensity(after, mode, 3, 2, k, 0.4), expected, 1e-5 * expected + 1e-6);
    }
}

TEST(LevelPhase, OfAPotentialTheTransmissionFollows) {
  Result result = example();
  result.type = ObjectType::potential;
  result.phase = Array(Device::cpu(), result.object.shape(), DType::f32);
  auto phase = result.phase.view<float, 3>();
  for (Index r = 0; r < 12; ++r)
    for (Index c = 0; c < 10; ++c) phase(0, r, c) = 2.0f * static_cast<float>(c) + 0.5f;  // a third of a turn a pixel
  EXPECT_NEAR(level_phase(result).per_col, 2, 1e-5);
  EXPECT_NEAR(phase(0, 7, 9), phase(0, 2, 1), 1e-4);
  const complex128 value = result.transmission().view<complex128, 3>()(0, 7, 9);
  EXPECT_NEAR(std::arg(value), std::remainder(static_cast<double>(phase(0, 7, 9)), 2 * std::numbers::pi), 1e-5);
}

TEST(LevelPhase, IsNotForSeveralSlices) {
  Result result = example();
  result.object = Array(Device::cpu(), Shape{2, 12, 10}, DType::c64);
  EXPECT_FALSE(has_free_ramp(result));
}

TEST(Export, OtherProgramsReadWhatIsWritten) {
  const TemporaryFolder folder;
  const Result result = example();
  EXPECT_EQ(export_result(result, ExportFormat::npy, folder.file("e")).size(), 3u);
  EXPECT_EQ(read_npy(folder.file("e_object.npy")).shape(), (Shape{1, 12, 10}));
  (void)export_result(result, ExportFormat::cxi, folder.file("e.cxi"));
  (void)export_result(result, ExportFormat::ptyr, folder.file("e.ptyr"));
  for (const std::string& file : export_result(result, ExportFormat::tiff, folder.file("e")))
    EXPECT_GT(sonde::testing::read_bytes(file).size(), 48u) << file;
  EXPECT_EQ(
      sonde::testing::python("import sys, h5py\n"
                             "c = h5py.File(sys.argv[1] + '/e.cxi')['entry_1']\n"
                             "print(c['image_1/data'].shape, c['image_1/x_pixel_size'][()], "
                             "[float('%.6g' % x) for x in c['sample_1/geometry_1/translation'][1]])\n"
                             "p = h5py.File(sys.argv[1] + '/e.ptyr')['content']\n"
                             "print(p['obj/S0/data'].shape, [float('%.6g' % x) for x in p['obj/S0/_origin'][()]], "
                             "p['probe/S0/data'].shape)\n",
                             folder.path().string()),
      "(1, 12, 10) 5e-11 [2.5e-10, 3.125e-10, 0.0]\n(1, 12, 10) [-1.5e-10, -1e-10] (2, 4, 4)\n");
}

TEST(Export, SeveralSlicesAreThePagesOfATiff) {
  const TemporaryFolder folder;
  Result result = example();
  result.object = Array(Device::cpu(), {3, 12, 10}, DType::c64);
  auto object = result.object.view<complex64, 3>();
  for (Index s = 0; s < 3; ++s)
    for (Index r = 0; r < 12; ++r)
      for (Index c = 0; c < 10; ++c) object(s, r, c) = std::polar(1.0f - 0.25f * static_cast<float>(s), 0.0f);
  EXPECT_EQ(export_result(result, ExportFormat::tiff, folder.file("e")),
            (std::vector{folder.file("e_phase.tif"), folder.file("e_amplitude.tif"), folder.file("e_phase_slices.tif"),
                         folder.file("e_amplitude_slices.tif")}));
  const Box view = result.field_of_view();
  const Array slices = amplitude_slices(result, view);
  EXPECT_EQ(slices.shape(), (Shape{3, view.rows, view.cols}));
  EXPECT_NEAR((slices.view<float, 3>()(2, 1, 1)), 0.5, 1e-6);
  EXPECT_NEAR((amplitude_image(result, view).view<float, 2>()(1, 1)), 0.375, 1e-6);  // 1 * 0.75 * 0.5
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::not_supported, [&] { (void)read_tiff(folder.file("e_phase_slices.tif")); }),
      HasSubstr("several pages"));
}

TEST(Export, LengthsInMetresNeedACalibration) {
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::not_supported,
                               [] { (void)export_result(example(false), ExportFormat::cxi, "/nowhere/e.cxi"); }),
      HasSubstr("CXI needs a wavelength"));
}

TEST(MetricsLog, ChangesStandBetweenTheIterationsThatTheyLieBetween) {
  const TemporaryFolder folder;
  std::vector<IterationRecord> history(3);
  for (Index i = 0; i < 3; ++i) history[static_cast<std::size_t>(i)].number = i + 1;
  MetricsLog(folder.file("m.jsonl"))
      .add(history, {{7, "engine.0.step", Value(1.0), Value(0.5)},
                     {8},  // began again: what was before is of iterations that are gone
                     {0, "engine.0.step", Value(0.5), Value(0.25)},
                     {2, "engine.0.g", Value(0.1), Value()}});
  EXPECT_EQ(sonde::testing::python("import sys, json\n"
                                   "for line in list(open(sys.argv[1]))[1:]:\n"
                                   "  d = json.loads(line)\n"
                                   "  c = d.get('change')\n"
                                   "  print(c.get('now', 'again') if c else d['iteration'], end=' ')\n",
                                   folder.file("m.jsonl")),
            "0.5 again 0.25 1 2 None 3 ");
}

TEST(MetricsLog, HoldsOneObjectPerLine) {
  const TemporaryFolder folder;
  {
    MetricsLog log(folder.file("m.jsonl"));
    IterationRecord record;
    record.number = 1;
    record.r_free = 0.5;
    log.add(record);
    record.number = 2;
    record.r_free.reset();
    log.add(record);
  }
  EXPECT_EQ(sonde::testing::python("import sys, json\n"
                                   "for line in list(open(sys.argv[1]))[1:]:\n"
                                   "  d = json.loads(line)\n"
                                   "  print(d['iteration'], d['R_free'])\n",
                                   folder.file("m.jsonl")),
            "1 0.5\n2 None\n");
}

TEST(Provenance, TellsChangedFilesApart) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("a")) << std::string(3 << 20, 'a');
  const Value first = provenance(folder.file("a"), "cpu", 3);
  std::ofstream(folder.file("a")) << std::string((3 << 20) - 1, 'a') << 'b';
  const Value second = provenance(folder.file("a"), "cpu", 3);
  EXPECT_NE(first.find("input")->find("hash_of_first_and_last_mib")->as_text(),
            second.find("input")->find("hash_of_first_and_last_mib")->as_text());
  EXPECT_EQ(first.find("input")->find("bytes")->as_whole(), 3 << 20);
  EXPECT_EQ(input_path(first), folder.file("a"));
}

}  // namespace
}  // namespace sonde::ptycho
