// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "sonde/engine/io/hdf5_writer.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

/// Three disks, none and two on a detector that is not square, of a scan of 3 x 2 positions of which one has no
/// pattern.
BraggVectors few_disks() {
  BraggVectors vectors;
  vectors.scan_rows = 3;
  vectors.scan_cols = 2;
  vectors.rows = 40;
  vectors.cols = 52;
  vectors.offsets = {0, 3, 3, 3, 5, 5, 5};
  vectors.valid = {1, 1, 0, 1, 1, 1};
  vectors.qy = {19.5F, 3.25F, -0.5F, 39.25F, 20};
  vectors.qx = {25.125F, 51.25F, 7, 0, 26};
  vectors.intensity = {100, 50, 25, 12, 6};
  vectors.var_y = {0.01F, 0.02F, 0.04F, 0.08F, std::numeric_limits<float>::quiet_NaN()};
  vectors.var_x = vectors.var_y;
  vectors.probe_radius = 4.5;
  vectors.calibration.pixel_inv_a = 0.0125;
  vectors.calibration.scan_step_row_nm = 0.5;
  vectors.calibration.rotation_rad = -0.25;
  vectors.calibration.transpose = true;
  vectors.parameters = R"({"kernel":"ring"})";
  return vectors;
}

/// The file of vectors, with anything in it that vectors cannot hold.
void write_vectors(const std::string& path, const BraggVectors& vectors,
                   const std::function<void(Hdf5Writer&)>& instead_of_positions = {}) {
  Hdf5Writer writer(path);
  const Contents contents = vectors.contents("sonde stem bragg");
  for (const Contents::Variable& variable : contents.variables())
    if (!instead_of_positions || variable.name != "bragg/qy") writer.array("/" + variable.name, variable.values);
  if (instead_of_positions) instead_of_positions(writer);
  for (const auto& [name, value] : contents.attributes()) {
    const std::size_t slash = name.rfind('/');
    const std::string object = slash == std::string::npos ? "/" : "/" + name.substr(0, slash);
    const std::string key = slash == std::string::npos ? name : name.substr(slash + 1);
    if (const auto* text = std::get_if<std::string>(&value))
      writer.text_attribute(object, key, *text);
    else
      std::visit([&](const auto& number) { writer.attribute(object, key, number); }, value);
  }
  writer.finish();
}

std::string error_of_file(const std::function<void(BraggVectors&)>& damage,
                          const std::function<void(Hdf5Writer&)>& instead_of_positions = {}) {
  const TemporaryFolder folder;
  BraggVectors vectors = few_disks();
  damage(vectors);
  write_vectors(folder.file("disks.h5"), vectors, instead_of_positions);
  return error_of(ErrorKind::bad_file, [&] { (void)read_bragg_vectors(folder.file("disks.h5")); });
}

TEST(BraggVectors, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const BraggVectors written = few_disks();
  write_vectors(folder.file("disks.h5"), written);
  const BraggVectors read = read_bragg_vectors(folder.file("disks.h5"));
  EXPECT_EQ(read.scan_rows, 3);
  EXPECT_EQ(read.scan_cols, 2);
  EXPECT_EQ(read.rows, 40);
  EXPECT_EQ(read.cols, 52);
  EXPECT_EQ(read.offsets, written.offsets);
  EXPECT_EQ(read.valid, written.valid);
  EXPECT_EQ(read.qy, written.qy);
  EXPECT_EQ(read.qx, written.qx);
  EXPECT_EQ(read.intensity, written.intensity);
  EXPECT_EQ(read.var_x[3], written.var_x[3]);
  EXPECT_TRUE(std::isnan(read.var_y[4]));
  EXPECT_EQ(read.count(0), 3);
  EXPECT_EQ(read.count(1), 0);
  EXPECT_EQ(read.first(3), 3);
  EXPECT_EQ(read.last(3), 5);
}

TEST(BraggVectors, CarryProbeCalibrationAndParameters) {
  const TemporaryFolder folder;
  write_vectors(folder.file("disks.h5"), few_disks());
  const BraggVectors read = read_bragg_vectors(folder.file("disks.h5"));
  EXPECT_EQ(read.probe_radius, 4.5);
  EXPECT_EQ(read.calibration.pixel_inv_a, 0.0125);
  EXPECT_EQ(read.calibration.scan_step_row_nm, 0.5);
  EXPECT_EQ(read.calibration.rotation_rad, -0.25);
  EXPECT_EQ(read.calibration.transpose, true);
  EXPECT_FALSE(read.calibration.pixel_mrad);
  EXPECT_FALSE(read.calibration.high_tension_v);
  EXPECT_EQ(read.parameters, R"({"kernel":"ring"})");
}

TEST(BraggVectors, CarryOriginsAndEllipse) {
  const TemporaryFolder folder;
  BraggVectors written = few_disks();
  written.calibration.ellipse = Distortion{.a = 1.02, .b = 0.98, .theta = 0.5, .radius = 0.98};
  written.calibration.origin_y = {19, 20, 21, 22, 23, std::nan("")};
  written.calibration.origin_x = {25.5, 25, 24.5, 24, 23.5, 23};
  write_vectors(folder.file("disks.h5"), written);
  const BraggCalibration read = read_bragg_vectors(folder.file("disks.h5")).calibration;
  EXPECT_EQ(read.ellipse->a, 1.02);
  EXPECT_EQ(read.ellipse->b, 0.98);
  EXPECT_EQ(read.ellipse->theta, 0.5);
  EXPECT_EQ(read.ellipse->radius, 0.98);
  EXPECT_EQ(read.origin_y[4], 23);
  EXPECT_TRUE(std::isnan(read.origin_y[5]));
  EXPECT_EQ(read.origin_x, written.calibration.origin_x);
}

TEST(BraggVectors, WithACalibrationThatCannotBeAreRefused) {
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.calibration.ellipse = Distortion{.a = 1, .b = 0}; }),
              HasSubstr("damaged: /bragg: ellipse is not a, b, theta and a radius"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) {
                of.calibration.origin_y.assign(6, 1);
                of.calibration.origin_x.assign(6, HUGE_VAL);
              }),
              HasSubstr("damaged: the origin of position 0 is infinite"));
}

TEST(BraggVectors, MayBeNone) {
  const TemporaryFolder folder;
  BraggVectors none;
  none.scan_rows = none.scan_cols = 1;
  none.rows = none.cols = 8;
  none.offsets = {0, 0};
  none.valid = {1};
  write_vectors(folder.file("none.h5"), none);
  const BraggVectors read = read_bragg_vectors(folder.file("none.h5"));
  EXPECT_EQ(read.disks(), 0);
  EXPECT_FALSE(read.has_variance());
}

TEST(BraggVectors, OfAnotherFileAreRefused) {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder.file("other.h5"));
  writer.text_attribute("/", "schema", "sonde.stem.radial/1");
  writer.finish();
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_bragg_vectors(folder.file("other.h5")); }),
              HasSubstr("other.h5: not a file of Bragg disks\nhint: expected the output of sonde stem bragg"));
}

TEST(BraggVectors, WhoseOffsetsContradictEachOtherAreRefused) {
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.offsets[0] = 1; }),
              HasSubstr("disks.h5: damaged: /bragg/offsets begins with 1; expected 0"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.offsets[2] = 2; }),
              HasSubstr("damaged: /bragg/offsets decreases from 3 to 2 at position 1"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.offsets[6] = 6; }),
              HasSubstr("damaged: /bragg/qy is f32 (5,); expected f32 (6,)"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.offsets[6] = std::uint64_t{1} << 60; }),
              HasSubstr("damaged: /bragg/offsets ends with 1152921504606846976"));
}

TEST(BraggVectors, OutsideTheDetectorAreRefused) {
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.qy[1] = 39.5F; }),
              HasSubstr("damaged: disk 1 is at row 39.5, column 51.25 of a detector of 40 x 52 pixels"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.qx[4] = -0.75F; }), HasSubstr("damaged: disk 4 is at row 20"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.qx[4] = std::nanf(""); }),
              HasSubstr("damaged: disk 4 is at row 20, column nan"));
}

TEST(BraggVectors, WithValuesThatCannotBeAreRefused) {
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.intensity[2] = std::numeric_limits<float>::infinity(); }),
              HasSubstr("damaged: the intensity of disk 2 is not finite"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.var_x[0] = -1; }),
              HasSubstr("damaged: the variance of disk 0 is -1"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.valid[5] = 7; }),
              HasSubstr("damaged: /bragg/valid is 7 at position 5"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.probe_radius = std::nan(""); }),
              HasSubstr("damaged: /bragg: probe_radius is not a finite number"));
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.calibration.pixel_inv_a = -2; }),
              HasSubstr("damaged: /bragg: pixel_inv_a is -2"));
}

TEST(BraggVectors, OfShapesThatCannotBeAreRefused) {
  EXPECT_THAT(error_of_file([](BraggVectors& of) { of.rows = 0; }),
              HasSubstr("damaged: /bragg: detector_shape is not two whole numbers from 1 to 65536"));
}

TEST(BraggVectors, OfAnotherTypeOrAbsentAreRefused) {
  EXPECT_THAT(error_of_file([](BraggVectors&) {}, [](Hdf5Writer&) {}), HasSubstr("damaged: /bragg/qy is missing"));
  EXPECT_THAT(error_of_file([](BraggVectors&) {},
                            [](Hdf5Writer& writer) {
                              writer.array("/bragg/qy", Array::from<double>({1, 2, 3, 4, 5}, {5}));
                            }),
              HasSubstr("damaged: /bragg/qy is f64 (5,); expected f32 (5,)"));
}

}  // namespace
}  // namespace sonde::stem
