// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "sonde/instruments/stem/read/source.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

std::vector<float> float_frame(Source& source, Index frame) {
  const Acquisition& a = source.acquisition();
  std::vector<float> elements(static_cast<std::size_t>(a.rows * a.cols));
  RawBatch batch;
  DecodeScratch scratch;
  source.read(frame, frame + 1, batch);
  source.decode(batch, frame, scratch, std::as_writable_bytes(std::span(elements)));
  return elements;
}

TEST(GenericHdf5, Py4dstemCubeKeepsAllAxesApart) {
  SONDE_NEED_DATA(data);
  const auto source = open_source(data / "stem/other/py4DSTEM_size2x3x4x5.h5", {});
  const Acquisition& a = source->acquisition();
  EXPECT_EQ(a.format, "EMD 1.0");
  EXPECT_EQ(a.scan.rows, 2);
  EXPECT_EQ(a.scan.cols, 3);
  EXPECT_EQ(a.rows, 4);
  EXPECT_EQ(a.cols, 5);
  EXPECT_EQ(a.stored, DType::f32);
  EXPECT_DOUBLE_EQ(a.calibration.scan_step_row_nm->value, 0.126796875);
  EXPECT_DOUBLE_EQ(a.calibration.detector_step_inv_a->value, 0.044251566616087125);
  EXPECT_FALSE(a.sentinel.has_value());
  // The first elements as h5py prints them.
  const std::vector<float> frame = float_frame(*source, 0);
  EXPECT_FLOAT_EQ(frame[0], 472.5212f);
  EXPECT_FLOAT_EQ(frame[3], 261.84518f);
}

TEST(GenericHdf5, PrismaticCubeOpensWithItsAxes) {
  SONDE_NEED_DATA(data);
  const auto source = open_source(data / "stem/other/Si100_4D.emd", {});
  const Acquisition& a = source->acquisition();
  EXPECT_EQ(a.format, "EMD 0.5");
  EXPECT_EQ(a.scan.rows, 11);
  EXPECT_EQ(a.scan.cols, 11);
  EXPECT_EQ(a.rows, 8);
  EXPECT_FLOAT_EQ(static_cast<float>(a.calibration.scan_step_row_nm->value), 0.5f);
  EXPECT_NEAR(a.calibration.detector_step_inv_a->value, 0.018416207, 1e-7);  // 0.18416207 1/nm in single precision
  EXPECT_THAT(a.notes[0].because, HasSubstr("CBED_array_depth0001"));
  EXPECT_FLOAT_EQ(float_frame(*source, 0)[1], 4.04372040e-05f);
}

TEST(GenericHdf5, OneDatasetOfSeveralCanBeNamed) {
  SONDE_NEED_DATA(data);
  ReadOptions options;
  options.dataset = "4DSTEM_simulation/data/datacubes/CBED_array_depth0001/datacube";
  const auto source = open_source(data / "stem/other/Si100_4D.emd", options);
  EXPECT_FLOAT_EQ(float_frame(*source, 0)[0], 9.8182471e-05f);
  options.dataset = "/4DSTEM_simulation/data/datacubes/CBED_array_depth0002/datacube";
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)open_source(data / "stem/other/Si100_4D.emd", options); }),
              HasSubstr("did you mean \"/4DSTEM_simulation/data/datacubes/CBED_array_depth000"));
}

TEST(GenericHdf5, FilesWithoutScanAreRefused) {
  SONDE_NEED_DATA(data);
  for (const char* name : {"regression_0.1.3.h5", "regression_0.4.0.h5"})
    EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)open_source(data / "stem/bitshuffle" / name, {}); }),
                HasSubstr("no scan found: no array of numbers with three or four dimensions"));
}

TEST(GenericHdf5, AnotherScanShapeOfAsManyFramesMayBeGiven) {
  SONDE_NEED_DATA(data);
  ReadOptions options;
  options.scan_rows = 6;
  const auto source = open_source(data / "stem/other/py4DSTEM_size2x3x4x5.h5", options);
  EXPECT_EQ(source->acquisition().scan.cols, 1);
}

TEST(GenericHdf5, UnitsOfAxesAreUnderstood) {
  const sonde::testing::TemporaryFolder folder;
  sonde::testing::python(R"(
import os, sys, h5py, numpy as np
os.chdir(sys.argv[1])
with h5py.File('x.h5', 'w') as f:
    g = f.create_group('cube')
    g['data'] = np.zeros((3, 4, 2, 5), 'u2')
    for i, (n, step, unit) in enumerate([(3, 2.0, 'A'), (4, 0.003, 'um'), (2, 1.5, 'mrad'), (5, 1.5, 'mrad')]):
        g['dim%d' % i] = 7 + step * np.arange(n)
        g['dim%d' % i].attrs['units'] = unit
)",
                         folder.path().string());
  const Calibration c = open_source(folder.file("x.h5"), {})->acquisition().calibration;
  EXPECT_DOUBLE_EQ(c.scan_step_row_nm->value, 0.2);
  EXPECT_NEAR(c.scan_step_col_nm->value, 3.0, 1e-12);  // differences of numbers near 7
  EXPECT_DOUBLE_EQ(c.detector_step_mrad->value, 1.5);
  EXPECT_FALSE(c.detector_step_inv_a.has_value());  // no wavelength
}

TEST(GenericHdf5, StacksOfFramesNeedAShape) {
  const sonde::testing::TemporaryFolder folder;
  sonde::testing::python(R"(
import sys, h5py, numpy as np
h5py.File(sys.argv[1] + '/x.h5', 'w')['frames'] = np.zeros((12, 2, 5), 'u2')
)",
                         folder.path().string());
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)open_source(folder.file("x.h5"), {}); }),
              HasSubstr("give --scan-shape, for instance 3,4 or 2,6"));
}

}  // namespace
}  // namespace sonde::stem
