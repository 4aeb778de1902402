// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/emd_calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/stem/read/source.h"
#include "tests/support/data.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr const char* calibration_group = "/root/metadatabundle/calibration/";

/// A scan of 2 x 3 patterns with the values of a calibration that `write` adds.
template <class Write>
Acquisition scan_with(const std::string& path, Write write) {
  Hdf5Writer writer(path);
  writer.group("/root/metadatabundle/calibration");
  writer.array("/root/cube/data", Array::zeros(Device::cpu(), {2, 3, 4, 5}, DType::u16));
  write(writer);
  writer.finish();
  return open_source(path, {})->acquisition();
}

TEST(EmdCalibration, OfPy4dstemIsReadWithItsAxesExchanged) {
  SONDE_NEED_DATA(data);
  const Calibration c =
      open_source(data / "stem-analysis/emd_py4dstem_calibration_sample.h5", {})->acquisition().calibration;
  EXPECT_DOUBLE_EQ(c.scan_step_row_nm->value, 0.25);  // 2.5 A
  EXPECT_DOUBLE_EQ(c.detector_step_inv_a->value, 0.0125);
  // The table of the conventions: a rotation r with a transposition t is -r with t.
  EXPECT_DOUBLE_EQ(c.rotation_rad->value, -0.375);
  EXPECT_TRUE(c.transpose.value());
  // a = 1.02 along 0.35 rad from its x, the rows, towards its y, the columns.
  EXPECT_DOUBLE_EQ(c.ellipse->a, 1.02);
  EXPECT_DOUBLE_EQ(c.ellipse->b, 0.98);
  EXPECT_DOUBLE_EQ(c.ellipse->theta, std::numbers::pi / 2 - 0.35);
  EXPECT_DOUBLE_EQ(c.ellipse->radius, 0.98);
  EXPECT_THAT(c.origin->y, ElementsAre(10, 11, 12, 20, 21, 22));  // qx0 as h5py prints it
  EXPECT_THAT(c.origin->x, ElementsAre(30, 31, 32, 40, 41, 42));
}

TEST(EmdCalibration, OneOriginIsThatOfAllFrames) {
  const testing::TemporaryFolder dir;
  const Acquisition a = scan_with(dir.file("scan.h5"), [](Hdf5Writer& writer) {
    writer.value(std::string(calibration_group) + "qx0", 1.5);
    writer.value(std::string(calibration_group) + "qy0", 2.25);
  });
  EXPECT_THAT(a.calibration.origin->y, ElementsAre(1.5, 1.5, 1.5, 1.5, 1.5, 1.5));
  EXPECT_DOUBLE_EQ(a.calibration.origin->x[5], 2.25);
}

TEST(EmdCalibration, WhatCannotBeUsedIsNoted) {
  const testing::TemporaryFolder dir;
  const Acquisition a = scan_with(dir.file("scan.h5"), [](Hdf5Writer& writer) {
    const std::string group = calibration_group;
    writer.array(group + "qx0", Array::zeros(Device::cpu(), {3, 3}, DType::f64));
    writer.array(group + "qy0", Array::zeros(Device::cpu(), {2, 3}, DType::f64));
    writer.value(group + "a", 1.0);
    writer.value(group + "b", 0.0);
    writer.value(group + "theta", 0.1);
    writer.value(group + "QR_rotation", std::string("unknown"));
    writer.value(group + "Q_pixel_size", 1.0);
    writer.value(group + "Q_pixel_units", std::string("pixels"));
  });
  EXPECT_FALSE(a.calibration.origin);
  EXPECT_FALSE(a.calibration.ellipse || a.calibration.rotation_rad || a.calibration.detector_step_inv_a);
  const auto reason = [](const char* text) { return Contains(Field(&Choice<std::string>::because, HasSubstr(text))); };
  EXPECT_THAT(a.notes, reason("it is f64 (3, 3) for 6 frames"));
  EXPECT_THAT(a.notes, reason("its semi-axes are 1 and 0"));
  EXPECT_THAT(a.notes, reason("it is not one finite number"));
}

TEST(EmdCalibration, TheRotationOfAScanThatIsTurnedIsLeftOut) {
  const testing::TemporaryFolder dir;
  (void)scan_with(dir.file("scan.h5"),
                  [](Hdf5Writer& writer) { writer.value(std::string(calibration_group) + "QR_rotation", 0.5); });
  EXPECT_DOUBLE_EQ(open_source(dir.file("scan.h5"), {})->acquisition().calibration.rotation_rad->value, -0.5);
  ReadOptions flipped;
  flipped.flip_rows = true;
  EXPECT_FALSE(open_source(dir.file("scan.h5"), flipped)->acquisition().calibration.rotation_rad);
}

}  // namespace
}  // namespace sonde::stem
