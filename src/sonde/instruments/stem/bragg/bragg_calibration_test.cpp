// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sonde/engine/io/hdf5_writer.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using ::testing::ElementsAre;

/// 2 x 4 patterns of 6 x 8 pixels as py4DSTEM stores them, with the origin of frame i at row i, column 10 i of its
/// file.
std::string scan_with_origins(const sonde::testing::TemporaryFolder& folder) {
  const std::string path = folder.file("scan.h5"), group = "/root/metadatabundle/calibration/";
  Hdf5Writer writer(path);
  writer.array("/root/cube/data", Array::zeros(Device::cpu(), {2, 4, 6, 8}, DType::u16));
  std::vector<double> rows, cols;
  for (int i = 0; i < 8; ++i) {
    rows.push_back(i);
    cols.push_back(10 * i);
  }
  writer.array(group + "qx0", Array::from(rows, {2, 4}));
  writer.array(group + "qy0", Array::from(cols, {2, 4}));
  writer.value(group + "Q_pixel_size", 0.02);
  writer.value(group + "Q_pixel_units", std::string("A^-1"));
  writer.value(group + "QR_rotation", 0.25);
  writer.finish();
  return path;
}

TEST(BraggCalibration, OriginsFollowRegionAndBins) {
  const sonde::testing::TemporaryFolder folder;
  LoadOptions options;
  options.scan_region = "0,2,2,4";
  options.det_bin = "2";
  const Dataset dataset = load(scan_with_origins(folder), options, Budget(std::size_t{1} << 30, "test"));
  const BraggCalibration made = calibration_of(dataset);
  // Frames 2, 3, 6, 7; the middle of pixels 0 and 1, at 0.5, is place 0 of the bins.
  EXPECT_THAT(made.origin_y, ElementsAre(0.75, 1.25, 2.75, 3.25));
  EXPECT_THAT(made.origin_x, ElementsAre(9.75, 14.75, 29.75, 34.75));
  EXPECT_DOUBLE_EQ(made.pixel_inv_a.value(), 0.04);
  EXPECT_DOUBLE_EQ(made.rotation_rad.value(), -0.25);
}

TEST(BraggCalibration, OriginsOfBinnedPositionsAreMeans) {
  const sonde::testing::TemporaryFolder folder;
  LoadOptions options;
  options.scan_bin = 2;
  const Dataset dataset = load(scan_with_origins(folder), options, Budget(std::size_t{1} << 30, "test"));
  EXPECT_THAT(calibration_of(dataset).origin_y, ElementsAre(2.5, 4.5));  // of frames 0, 1, 4, 5 and 2, 3, 6, 7
}

TEST(BraggCalibration, StepsOfAFileComeBeforeThoseOfDisks) {
  const sonde::testing::TemporaryFolder folder;
  // 2 x 4 positions on 6 x 8 pixels; the disks were found on bins of 2 x 2.
  BraggCalibration known;
  known.pixel_inv_a = 0.1;
  known.high_tension_v = 200e3;
  known.ellipse = Distortion{.a = 1.1, .b = 1, .theta = 0.2, .radius = 1};
  const auto [made, choices] =
      with_calibration_file(known, {.rows = 3, .cols = 4, .scan_rows = 2, .scan_cols = 4}, "bragg.h5",
                            scan_with_origins(folder), Budget(std::size_t{1} << 30, "test"));
  EXPECT_DOUBLE_EQ(made.pixel_inv_a.value(), 0.04);
  EXPECT_NEAR(made.pixel_mrad.value(), 1e3 * 0.04 * 0.0250793, 1e-5);  // published wavelength of 200 kV
  EXPECT_DOUBLE_EQ(made.rotation_rad.value(), -0.25);
  EXPECT_THAT(made.origin_y, ElementsAre(-0.25, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.25));
  EXPECT_DOUBLE_EQ(made.ellipse->theta, 0.2);              // stays
  EXPECT_DOUBLE_EQ(made.ellipse->radius, std::sqrt(1.1));  // the size of a pixel is no more that of its circle
  EXPECT_THAT(choices, ::testing::Contains(::testing::Field(
                           &Choice<std::string>::because,
                           "of " + folder.file("scan.h5") + ", in place of what the file of the scan states")));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] {
                                         (void)with_calibration_file(known, {4, 4, 2, 4}, "bragg.h5",
                                                                     scan_with_origins(folder),
                                                                     Budget(std::size_t{1} << 30, "test"));
                                       }),
              ::testing::HasSubstr("a calibration of a detector of 6 x 8 pixels; that of bragg.h5 has 4 x 4"));
}

TEST(BraggCalibration, LosesTheStepsThatAreNamed) {
  BraggCalibration all;
  all.pixel_inv_a = 0.01;
  all.rotation_rad = 0.5;
  all.transpose = true;
  all.ellipse = Distortion{};
  all.origin_y = all.origin_x = {1};
  EXPECT_EQ(
      steps_text(all),
      "origin of every position, ellipse 1 : 1 at 0.0 degrees, pixel 0.01 1/A, transpose, rotation 28.65 degrees");
  EXPECT_EQ(steps_text(without(all, parse_steps("origin,pixel, rotation", ""))),
            "ellipse 1 : 1 at 0.0 degrees, transpose");
  EXPECT_EQ(steps_text(without(all, parse_steps("ellipse,transpose,origin,pixel,rotation", ""))), "");
}

}  // namespace
}  // namespace sonde::stem
