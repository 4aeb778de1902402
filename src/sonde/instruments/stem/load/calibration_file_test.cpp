// SPDX-License-Identifier: Apache-2.0
// Calibration files: what comes first, exact conversion between detectors, and files that are refused.
#include "sonde/instruments/stem/load/calibration_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/netcdf_writer.h"
#include "sonde/engine/io/npy.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/given_calibration.h"
#include "tests/support/budget.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;

/// The frame of a scan of 2 x 3 positions on 60 x 84 pixels.
CalibrationFrame small_frame() {
  CalibrationFrame frame{.rows = 60, .cols = 84, .transposed = false, .scan = {}};
  frame.scan.rows = 2;
  frame.scan.cols = 3;
  return frame;
}

void write_contents_of(const std::string& path, const Contents& contents) {
  write_netcdf(path, contents, NetcdfFormat::netcdf4);
}

/// What the rings of a powder gave, measured with bins of 2 x 2 pixels.
Contents ring_contents(const CalibrationFrame& frame = small_frame()) {
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.calibration/1"));
  contents.add("calibration/ellipse_a", 1.02);
  contents.add("calibration/ellipse_b", 1 / 1.02);
  contents.add("calibration/ellipse_theta", 0.4);
  contents.add("calibration/q_pixel", 0.0125);
  contents.add("centre/row", 14.0);
  contents.add("centre/col", 20.5);
  describe(frame, 2, contents);
  return contents;
}

/// What centres of mass gave: origin_x counts positions, origin_y a tenth of them.
Contents centre_contents(const CalibrationFrame& frame = small_frame(), Index positions_rows = 2,
                         Index positions_cols = 3) {
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.com/1"));
  std::vector<float> x, y;
  for (Index i = 0; i < positions_rows * positions_cols; ++i) {
    x.push_back(static_cast<float>(i));
    y.push_back(static_cast<float>(i) * 0.25F);
  }
  contents.add("com/origin_x", {"scan row", "scan column"}, Array::from(x, {positions_rows, positions_cols}));
  contents.add("com/origin_y", {"scan row", "scan column"}, Array::from(y, {positions_rows, positions_cols}));
  contents.add("rotation/degrees", 30.0);
  contents.add("rotation/transpose", std::int32_t{1});
  describe(frame, 1, contents);
  return contents;
}

std::string written(const sonde::testing::TemporaryFolder& folder, const Contents& contents) {
  const std::string path = folder.file("calibration.nc");
  write_contents_of(path, contents);
  return path;
}

/// `name` with another value.
Contents changed(const Contents& from, const std::string& name, double value) {
  Contents contents;
  for (const auto& [key, attribute] : from.attributes()) contents.attribute(key, attribute);
  for (const Contents::Variable& variable : from.variables())
    if (variable.name != name) contents.add(variable.name, variable.dimensions, variable.values.clone());
  if (std::isfinite(value)) contents.add(name, value);
  return contents;
}

/// A scan of 2 x 3 patterns of 60 x 84 pixels whose file states a size of a pixel, a tension, and a camera length.
Acquisition scan_of_file() {
  Acquisition a;
  a.path = "scan.h5";
  a.frames = 6;
  a.rows = 60;
  a.cols = 84;
  a.scan = small_frame().scan;
  a.calibration.high_tension_v = Quantity{200e3};
  a.calibration.detector_step_inv_a = Quantity{0.02};
  a.calibration.detector_step_mrad = Quantity{0.5};
  return a;
}

LoadOptions with_file(const std::string& path) {
  LoadOptions options;
  options.calibration = path;
  return options;
}

TEST(CalibrationFile, ComesBeforeTheFileOfTheScan) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = written(folder, ring_contents());
  const auto [c, choices] = with_given(scan_of_file(), with_file(path), sonde::testing::plenty());
  EXPECT_DOUBLE_EQ(c.detector_step_inv_a->value, 0.0125);
  EXPECT_EQ(c.detector_step_inv_a->stated_by, StatedBy::calibration);
  // 200 kV: 0.0250793 A (published), with its six digits.
  EXPECT_NEAR(c.detector_step_mrad->value, 1e3 * 0.0125 * 0.0250793, 1e-6);
  EXPECT_EQ(c.high_tension_v->stated_by, StatedBy::file);
  EXPECT_DOUBLE_EQ(c.ellipse->theta, 0.4);
  EXPECT_DOUBLE_EQ(c.ellipse->radius, 1);  // the circle of equal area
  EXPECT_DOUBLE_EQ(c.centre->row, 28.5);   // bin 14 holds stored rows 28 and 29
  EXPECT_DOUBLE_EQ(c.centre->col, 41.5);   // between bins 20 and 21, stored columns 41 and 42
  EXPECT_FALSE(c.origin);                  // one place of another scan is no origin of every frame
  EXPECT_THAT(choices, Contains(AllOf(Field(&Choice<std::string>::value, "calibration pixel: 0.0125 1/A"),
                                      Field(&Choice<std::string>::because,
                                            "of " + path + ", in place of what the file of the scan states"))));
  EXPECT_THAT(choices, Contains(AllOf(Field(&Choice<std::string>::value, HasSubstr("calibration ellipse: 1.02 : 0.98")),
                                      Field(&Choice<std::string>::because, "of " + path))));
}

TEST(CalibrationFile, ComesAfterWhatIsGiven) {
  const sonde::testing::TemporaryFolder folder;
  LoadOptions options = with_file(written(folder, ring_contents()));
  options.voltage = 300;
  Acquisition scan = scan_of_file();
  scan.calibration.detector_step_mrad.reset();
  const Calibration c = with_given(scan, options, sonde::testing::plenty()).calibration;
  EXPECT_EQ(c.high_tension_v->stated_by, StatedBy::user);
  EXPECT_NEAR(c.detector_step_mrad->value, 1e3 * 0.0125 * 0.0196875, 1e-6);  // published wavelength of 300 kV
}

TEST(CalibrationFile, WithoutOneNothingChanges) {
  const auto [c, choices] = with_given(scan_of_file(), {}, sonde::testing::plenty());
  EXPECT_EQ(c.detector_step_inv_a->value, 0.02);
  EXPECT_FALSE(c.centre);
  EXPECT_THAT(choices, IsEmpty());
}

TEST(CalibrationFile, StepsThatItLacksAreThoseOfTheScan) {
  const sonde::testing::TemporaryFolder folder;
  Contents contents = changed(ring_contents(), "calibration/q_pixel", NAN);
  Acquisition scan = scan_of_file();
  // py4DSTEM's pixel is that of the circle of radius b: of equal area it is smaller by b / sqrt(a b).
  scan.calibration.ellipse = Distortion{.a = 1.21, .b = 1, .theta = 0, .radius = 1};
  const Calibration c = with_given(scan, with_file(written(folder, contents)), sonde::testing::plenty()).calibration;
  EXPECT_NEAR(c.detector_step_inv_a->value, 0.02 / 1.1, 1e-12);
  EXPECT_EQ(c.detector_step_inv_a->stated_by, StatedBy::file);
  EXPECT_DOUBLE_EQ(c.ellipse->theta, 0.4);
}

TEST(CalibrationFile, OfAnotherBinOfTheDetectorIsConverted) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = written(folder, ring_contents());
  Acquisition scan = scan_of_file();
  scan.rows = 20;  // bins of 3
  scan.cols = 28;
  const auto [binned, choices] = with_given(scan, with_file(path), sonde::testing::plenty());
  EXPECT_DOUBLE_EQ(binned.detector_step_inv_a->value, 0.0375);
  EXPECT_DOUBLE_EQ(binned.centre->row, (28.5 - 1) / 3);  // p -> (p - (b - 1) / 2) / b
  EXPECT_DOUBLE_EQ(binned.ellipse->a, 1.02);
  EXPECT_THAT(choices,
              Contains(Field(&Choice<std::string>::value, "calibration detector: 60 x 84 pixels for 20 x 28")));
  scan.rows = 120;  // pixels of half the size
  scan.cols = 168;
  const Calibration fine = with_given(scan, with_file(path), sonde::testing::plenty()).calibration;
  EXPECT_DOUBLE_EQ(fine.detector_step_inv_a->value, 0.00625);
  EXPECT_DOUBLE_EQ(fine.centre->col, 2 * 41.5 + 0.5);
}

TEST(CalibrationFile, OfAnotherDetectorIsRefused) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = written(folder, ring_contents());
  for (const auto& [rows, cols] : {std::pair(Index{84}, Index{60}), {64, 84}, {30, 84}, {7, 9}}) {
    SCOPED_TRACE(rows);
    Acquisition scan = scan_of_file();
    scan.rows = rows;
    scan.cols = cols;
    EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { (void)with_given(scan, with_file(path), sonde::testing::plenty()); }),
              "error: " + path + ": a calibration of a detector of 60 x 84 pixels; that of scan.h5 has " +
                  std::to_string(rows) + " x " + std::to_string(cols) +
                  "\nhint: measure the calibration with the same detector, or with whole bins of its pixels");
  }
}

TEST(CalibrationFile, FollowsTheExchangeOfTheDetectorsAxes) {
  const sonde::testing::TemporaryFolder folder;
  LoadOptions options = with_file(written(folder, ring_contents()));
  options.transpose_detector = true;
  Acquisition scan = scan_of_file();
  std::swap(scan.rows, scan.cols);
  const Calibration c = with_given(scan, options, sonde::testing::plenty()).calibration;
  EXPECT_DOUBLE_EQ(c.ellipse->theta, std::numbers::pi / 2 - 0.4);
  EXPECT_DOUBLE_EQ(c.centre->row, 41.5);
}

TEST(CalibrationFile, OfCentresHasRotationAndOrigins) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = written(folder, centre_contents());
  const auto [c, choices] = with_given(scan_of_file(), with_file(path), sonde::testing::plenty());
  EXPECT_DOUBLE_EQ(c.rotation_rad->value, std::numbers::pi / 6);
  EXPECT_EQ(c.rotation_rad->stated_by, StatedBy::calibration);
  EXPECT_TRUE(c.transpose.value());
  EXPECT_EQ(c.detector_step_inv_a->value, 0.02);  // stays that of the scan
  ASSERT_TRUE(c.origin);
  EXPECT_THAT(c.origin->x, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(c.origin->y, ElementsAre(0, 0.25, 0.5, 0.75, 1, 1.25));
  EXPECT_DOUBLE_EQ(c.centre->col, 2.5);
  EXPECT_THAT(choices, Contains(Field(&Choice<std::string>::value, "calibration rotation: 30.00 degrees, transposed")));
}

TEST(CalibrationFile, OriginsBelongToFramesHoweverTheScanIsSeen) {
  const sonde::testing::TemporaryFolder folder;
  CalibrationFrame frame = small_frame();
  frame.scan.flip_cols = true;
  frame.scan.prescan = 1;
  Acquisition scan = scan_of_file();
  scan.frames = 8;
  scan.scan.prescan = 1;
  const Calibration c =
      with_given(scan, with_file(written(folder, centre_contents(frame))), sonde::testing::plenty()).calibration;
  // Position (row, col) of the flipped scan is frame 4 row + 1 + (2 - col).
  EXPECT_THAT(c.origin->x, ElementsAre(IsNan(), 2, 1, 0, IsNan(), 5, 4, 3));
  // Along mirrored columns: R(90 - angle) with the other transposition, by hand.
  EXPECT_NEAR(c.rotation_rad->value, std::numbers::pi / 3, 1e-15);
  EXPECT_FALSE(c.transpose.value());
}

TEST(CalibrationFile, OriginsOfAnotherScanAreLeftOut) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = written(folder, centre_contents());
  Acquisition scan = scan_of_file();
  scan.scan.rows = 3;
  scan.scan.cols = 2;
  const auto [c, choices] = with_given(scan, with_file(path), sonde::testing::plenty());
  EXPECT_FALSE(c.origin);
  EXPECT_TRUE(c.centre && c.rotation_rad);
  EXPECT_THAT(choices, Contains(AllOf(Field(&Choice<std::string>::value, "calibration origin: not used"),
                                      Field(&Choice<std::string>::because,
                                            path + " has one for each of 2 x 3 positions, the scan has 3 x 2"))));
  const GivenCalibration part =
      read_calibration(written(folder, centre_contents(small_frame(), 2, 2)), sonde::testing::plenty());
  EXPECT_FALSE(part.steps.origin);  // of a region
  EXPECT_TRUE(part.steps.centre);
}

TEST(CalibrationFile, MayBeAScanThatStatesOne) {
  SONDE_NEED_DATA(data);
  const std::string path = data / "stem-analysis/emd_py4dstem_calibration_sample.h5";
  Acquisition scan = scan_of_file();
  scan.rows = 4;
  scan.cols = 5;
  const Calibration c = with_given(scan, with_file(path), sonde::testing::plenty()).calibration;
  EXPECT_DOUBLE_EQ(c.detector_step_inv_a->value, 0.0125);
  EXPECT_EQ(c.detector_step_inv_a->stated_by, StatedBy::calibration);
  EXPECT_DOUBLE_EQ(c.rotation_rad->value, -0.375);
  EXPECT_TRUE(c.transpose.value());
  EXPECT_DOUBLE_EQ(c.ellipse->a, 1.02);
  EXPECT_DOUBLE_EQ(c.ellipse->radius, 0.98);
  EXPECT_THAT(c.origin->y, ElementsAre(10, 11, 12, 20, 21, 22));  // as h5py prints qx0
  EXPECT_FALSE(c.scan_step_row_nm);                               // its own
}

TEST(CalibrationFile, ThatIsNoneIsNamed) {
  const sonde::testing::TemporaryFolder folder;
  const auto refused = [&](const std::string& path) {
    return sonde::testing::error_of(ErrorKind::bad_file,
                                    [&] { (void)read_calibration(path, sonde::testing::plenty()); });
  };
  const std::string hint =
      "\nhint: expected a result of sonde stem calibrate, com or phase, or a scan that states its calibration";
  EXPECT_THAT(refused("/nowhere/c.h5"), HasSubstr("/nowhere/c.h5: no such file"));
  Contents strain;
  strain.attribute("schema", std::string("sonde.stem.strain/1"));
  strain.add("e_xx", 1.0);
  const std::string other = written(folder, strain);
  EXPECT_EQ(refused(other), "error: " + other + ": a result \"sonde.stem.strain/1\" holds no calibration" + hint);
  const std::string plain = folder.file("plain.npy");
  write_npy(plain, Array::zeros(Device::cpu(), {2, 3, 8, 9}, DType::u16));
  EXPECT_EQ(refused(plain), "error: " + plain + ": a scan that states no calibration of the detector" + hint);
  const std::string empty = folder.file("empty");
  std::filesystem::create_directory(empty);
  EXPECT_THAT(refused(empty), HasSubstr(empty + ": no calibration and no scan: "));
  const std::string text = folder.file("notes.txt");
  std::ofstream(text) << "not a file of any program\n";
  EXPECT_THAT(refused(text), AllOf(HasSubstr(text + ": no calibration and no scan: "), HasSubstr(hint)));
}

TEST(CalibrationFile, ThatIsDamagedIsNamed) {
  const sonde::testing::TemporaryFolder folder;
  const auto refused = [&](const Contents& contents) {
    const std::string path = written(folder, contents);
    return sonde::testing::error_of(ErrorKind::bad_file,
                                    [&] { (void)read_calibration(path, sonde::testing::plenty()); });
  };
  const auto rings = [&](const char* name, double value) { return refused(changed(ring_contents(), name, value)); };
  EXPECT_THAT(rings("calibration/q_pixel", -1),
              HasSubstr(": damaged calibration: calibration/q_pixel is -1; expected a number above 0\nhint: make the "
                        "file anew"));
  EXPECT_THAT(rings("calibration/ellipse_b", NAN), HasSubstr("it has a part of an ellipse"));
  EXPECT_THAT(rings("frame/det_bin", NAN), HasSubstr("it has no frame/det_bin"));
  EXPECT_THAT(rings("frame/detector_rows", 0), HasSubstr("frame/detector_rows is 0; expected 1 to 65536"));
  EXPECT_THAT(rings("centre/row", 1e9), HasSubstr("centre/row is 1e+09; expected -65536 to 65536"));
  EXPECT_THAT(refused(changed(centre_contents(), "rotation/degrees", 1e4)),
              HasSubstr("rotation/degrees is 10000; expected -360 to 360"));
  EXPECT_THAT(refused(changed(centre_contents(), "com/origin_y", NAN)), HasSubstr("it has no map com/origin_y"));
}

TEST(CalibrationFile, IsUsedByALoad) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = folder.file("scan.npy"), calibration = written(folder, ring_contents());
  std::vector<std::uint16_t> frames(2 * 3 * 60 * 84);
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i] = static_cast<std::uint16_t>(i % 17);
  write_npy(path, Array::from(frames, {2, 3, 60, 84}));
  LoadOptions options = with_file(calibration);
  options.det_bin = "2";
  const Dataset dataset = load(path, options, sonde::testing::plenty());
  EXPECT_DOUBLE_EQ(dataset.calibration().detector_step_inv_a->value, 0.0125);  // of a stored pixel, whatever the bin
  EXPECT_THAT(dataset.choices(), Contains(Field(&Choice<std::string>::because, "of " + calibration)));
  const LoadPreview preview = preview_load(path, options, sonde::testing::plenty());
  EXPECT_DOUBLE_EQ(preview.acquisition.calibration.detector_step_inv_a->value, 0.0125);
  EXPECT_THAT(preview.acquisition.notes, Contains(Field(&Choice<std::string>::because, "of " + calibration)));
}

}  // namespace
}  // namespace sonde::stem
