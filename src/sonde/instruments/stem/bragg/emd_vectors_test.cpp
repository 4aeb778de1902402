// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/emd_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/math/random.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two disks, none and one on 1 x 3 positions, with every step of a calibration.
BraggVectors calibrated_disks() {
  BraggVectors vectors;
  vectors.scan_rows = 1;
  vectors.scan_cols = 3;
  vectors.rows = 40;
  vectors.cols = 52;
  vectors.offsets = {0, 2, 2, 3};
  vectors.valid = {1, 1, 1};
  vectors.qy = {19.5F, 3.25F, 39.25F};
  vectors.qx = {25.125F, 51.25F, 0};
  vectors.intensity = {100, 50, 12};
  vectors.probe_radius = 4.5;
  BraggCalibration& c = vectors.calibration;
  c.pixel_inv_a = 0.0125;
  c.scan_step_row_nm = c.scan_step_col_nm = 0.5;
  c.high_tension_v = 200e3;
  c.rotation_rad = -0.25;
  c.transpose = true;
  c.ellipse = Distortion{.a = 1.02, .b = 0.98, .theta = 0.5, .radius = 0.98};
  c.origin_y = {19, 20, 21};
  c.origin_x = {25, 26, 27.5};
  return vectors;
}

TEST(EmdVectors, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const BraggVectors written = calibrated_disks();
  write_emd_vectors(folder.file("disks.emd"), written, "sonde stem bragg");
  ASSERT_TRUE(is_bragg_file(folder.file("disks.emd")));
  const BraggVectors read = read_bragg_vectors(folder.file("disks.emd"));
  EXPECT_EQ(read.scan_cols, 3);
  EXPECT_EQ(read.rows, 40);
  EXPECT_EQ(read.cols, 52);
  EXPECT_EQ(read.offsets, written.offsets);
  EXPECT_EQ(read.qy, written.qy);
  EXPECT_EQ(read.qx, written.qx);
  EXPECT_EQ(read.intensity, written.intensity);
  EXPECT_EQ(read.probe_radius, 4.5);
  EXPECT_FALSE(read.has_variance());
}

TEST(EmdVectors, KeepEveryStepOfTheCalibration) {
  const TemporaryFolder folder;
  const BraggCalibration written = calibrated_disks().calibration;
  write_emd_vectors(folder.file("disks.emd"), calibrated_disks(), "");
  const BraggCalibration read = read_bragg_vectors(folder.file("disks.emd")).calibration;
  EXPECT_EQ(steps_text(read), steps_text(written));
  EXPECT_DOUBLE_EQ(read.pixel_inv_a.value(), 0.0125);
  EXPECT_DOUBLE_EQ(read.rotation_rad.value(), -0.25);
  EXPECT_TRUE(read.transpose.value());
  EXPECT_DOUBLE_EQ(read.scan_step_col_nm.value(), 0.5);
  EXPECT_DOUBLE_EQ(read.high_tension_v.value(), 200e3);
  EXPECT_DOUBLE_EQ(read.ellipse->theta, 0.5);
  EXPECT_EQ(read.origin_y, written.origin_y);
  EXPECT_EQ(read.origin_x, written.origin_x);
}

// A disk at 1/d = 1 on the ellipse's axis b: with either correction it stays one.
TEST(EmdVectors, ThePixelSizeFollowsTheRadiusOfTheCircle) {
  const TemporaryFolder folder;
  BraggVectors vectors = calibrated_disks();
  vectors.calibration.ellipse = Distortion{.a = 4, .b = 1, .theta = 0, .radius = 2};
  write_emd_vectors(folder.file("disks.emd"), vectors, "");
  const BraggCalibration read = read_bragg_vectors(folder.file("disks.emd")).calibration;
  EXPECT_DOUBLE_EQ(read.ellipse->radius, 1);
  EXPECT_DOUBLE_EQ(read.pixel_inv_a.value(), 2 * 0.0125);
}

TEST(EmdVectors, HaveTheStructureThatPy4dstemWrites) {
  const TemporaryFolder folder;
  write_emd_vectors(folder.file("disks.emd"), calibrated_disks(), "");
  EXPECT_EQ(sonde::testing::python(R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1]) as f:
    assert f.attrs['emd_group_type'] == 'file' and f.attrs['version_major'] == 1
    root, = f.values()
    assert root.attrs['emd_group_type'] == 'root' and root.attrs['python_class'] == 'Root'
    group = root['braggvectors']
    assert group.attrs['emd_group_type'] == 'custom' and group.attrs['python_class'] == 'BraggVectors'
    assert tuple(group['metadatabundle/_braggvectors_shape/Rshape'][:]) == (1, 3)
    assert tuple(group['metadatabundle/_braggvectors_shape/Qshape'][:]) == (40, 52)
    lists = group['_v_uncal']
    assert lists.attrs['emd_group_type'][:7] == 'custom_' and lists.attrs['python_class'] == 'PointListArray'
    assert h5py.check_vlen_dtype(lists['data'].dtype) == np.dtype([('qx', 'f8'), ('qy', 'f8'), ('intensity', 'f8')])
    calibration = root['metadatabundle/calibration']
    for name, kind in (('QR_rotation', 'number'), ('QR_flip', 'bool'), ('qx0', 'array'), ('Q_pixel_units', 'string')):
        assert calibration[name].attrs['type'] == kind, name
    # h5py cannot hand out empty lists of records; py4DSTEM expects that.
    print(lists['data'][0, 0].tolist(), calibration['QR_rotation'][()], calibration['qx0'][:].tolist(),
          calibration['Q_pixel_units'].asstr()[()])
)",
                                   folder.file("disks.emd")),
            "[(19.5, 25.125, 100.0), (3.25, 51.25, 50.0)] 0.25 [[19.0, 20.0, 21.0]] A^-1\n");
}

TEST(EmdVectors, WhoseListsAndShapesContradictEachOtherAreRefused) {
  const auto refusal = [](const char* field, std::int64_t rows, double place) {
    const TemporaryFolder folder;
    Hdf5Writer writer(folder.file("x.h5"));
    writer.record_lists("/r/b/_v_uncal/data",
                        {.shape = {1, 1}, .fields = {"qx", "qy", field}, .first = {0, 1}, .values = {place, 1, 1}});
    writer.array("/r/b/metadatabundle/_braggvectors_shape/Qshape", Array::from<std::int64_t>({rows, 8}, {2}));
    writer.finish();
    return error_of(ErrorKind::bad_file, [&] { (void)read_bragg_vectors(folder.file("x.h5")); });
  };
  EXPECT_THAT(refusal("weight", 8, 1), HasSubstr("damaged: /r/b/_v_uncal/data has no field intensity"));
  EXPECT_THAT(refusal("intensity", 0, 1), HasSubstr("Qshape is not the rows and columns of a detector"));
  EXPECT_THAT(refusal("intensity", 8, 7.5),
              HasSubstr("damaged: disk 0 is at row 7.5, column 1 of a detector of 8 x 8"));
  EXPECT_THAT(refusal("intensity", 8, std::nan("")), HasSubstr("damaged: disk 0 is at row nan"));
}

// Whatever is done to the bytes of a file, it is read, or refused with its name.
TEST(EmdVectors, OfDamagedFilesAreReadOrRefused) {
  const TemporaryFolder folder;
  write_emd_vectors(folder.file("disks.emd"), calibrated_disks(), "");
  const std::vector<std::uint8_t> sound = sonde::testing::read_bytes(folder.file("disks.emd"));
  Random random(3);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    std::vector<std::uint8_t> bytes = sound;
    for (int k = 0; k < 8; ++k)
      bytes[static_cast<std::size_t>(random.uniform() * static_cast<double>(bytes.size()))] =
          static_cast<std::uint8_t>(random.uniform() * 256);
    sonde::testing::write_bytes(folder.file("x.emd"), bytes);
    try {
      const BraggVectors read = read_bragg_vectors(folder.file("x.emd"));
      ASSERT_EQ(read.offsets.back(), read.qy.size());
    } catch (const Error& error) {
      ++refused;
      ASSERT_NE(error.kind(), ErrorKind::internal) << error.message();
      ASSERT_THAT(error.message(), HasSubstr("x.emd"));
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(EmdVectors, AreReadWithTheBrightestFirst) {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder.file("x.h5"));
  writer.record_lists(
      "/r/b/_v_uncal/data",
      {.shape = {1, 1}, .fields = {"intensity", "qx", "qy"}, .first = {0, 3}, .values = {5, 1, 4, 7, 2, 5, 6, 3, 6}});
  writer.array("/r/b/metadatabundle/_braggvectors_shape/Qshape", Array::from<std::int64_t>({8, 9}, {2}));
  writer.finish();
  const BraggVectors read = read_bragg_vectors(folder.file("x.h5"));
  EXPECT_THAT(read.intensity, ElementsAre(7, 6, 5));
  EXPECT_THAT(read.qy, ElementsAre(2, 3, 1));
  EXPECT_THAT(read.qx, ElementsAre(5, 6, 4));
}

}  // namespace
}  // namespace sonde::stem
