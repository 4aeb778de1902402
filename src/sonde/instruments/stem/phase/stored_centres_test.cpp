// SPDX-License-Identifier: Apache-2.0
// Files of centres of mass: what is made of one is what is made of the scan, and damage is named.
#include "sonde/instruments/stem/phase/stored_centres.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "sonde/engine/io/netcdf_writer.h"
#include "sonde/instruments/stem/phase/phase_contents.h"
#include "sonde/instruments/stem/phase/test_waves.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

Calibration calibration_of_scan() {
  Calibration calibration;
  calibration.high_tension_v = {{.value = 200e3, .stated_by = StatedBy::user}};
  calibration.scan_step_row_nm = {{.value = 0.03}};
  calibration.scan_step_col_nm = {{.value = 0.035}};
  calibration.detector_step_inv_a = {{.value = 0.0125}};
  calibration.detector_step_mrad = {{.value = 0.0125 * 25.0793}};
  calibration.rotation_rad = {{.value = 0.4}};
  calibration.transpose = true;
  calibration.ellipse = {.a = 1.02, .b = 0.99, .theta = 0.3, .radius = 0.99};
  return calibration;
}

/// 22 x 27 positions of hills, turned by 30 degrees; two are missing.
Centres hilly_centres() {
  static const Waves waves = [] {
    WaveScan scan = hilly_scan(22, 27, 1);
    scan.rotation = 30 * std::numbers::pi / 180;
    return simulate_waves(std::move(scan));
  }();
  Centres centres{.field = waves.centres};
  for (double& value : centres.field.x) value += 18;
  for (double& value : centres.field.y) value += 16;
  for (const std::size_t i : {std::size_t{40}, std::size_t{300}}) {
    centres.field.valid[i] = 0;
    centres.field.x[i] = centres.field.y[i] = std::numeric_limits<double>::quiet_NaN();
  }
  centres.errors = {
      .x = waves.sigma_x, .y = waves.sigma_y, .threshold = 3, .found_threshold = true, .counts_kept = 0.9};
  return centres;
}

PhaseResult made_of(Centres centres, const PhaseOptions& options) {
  return make_phase(std::move(centres.field), phase_scale("scan.h5", calibration_of_scan(), 4, 2, options), options, {},
                    std::move(centres.errors));
}

PhaseOptions field_options() {
  PhaseOptions options;
  options.method = IntegralMethod::none;
  options.units = PhaseUnit::px;
  options.fit = "plane";
  options.threshold = "auto";
  options.rotation_blur = 0.5;
  return options;
}

TEST(StoredCentres, MakeThePhaseOfTheScan) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = folder.file("com.nc");
  write_netcdf(path, phase_contents(made_of(hilly_centres(), field_options()), "test"), NetcdfFormat::netcdf4);
  ASSERT_TRUE(is_centre_file(path, sonde::testing::plenty()));
  StoredCentres stored = read_centres(path, sonde::testing::plenty());
  EXPECT_EQ(stored.options.fit, "plane");
  EXPECT_EQ(stored.options.units, PhaseUnit::px);
  EXPECT_EQ(stored.options.rotation_blur, 0.5);
  EXPECT_EQ(stored.scale.det_bin, 4);
  EXPECT_EQ(stored.scale.scan_bin, 2);
  EXPECT_EQ(stored.centres.field.missing(), 2);
  EXPECT_EQ(stored.centres.errors.threshold, 3);
  EXPECT_TRUE(stored.centres.errors.found_threshold);
  EXPECT_EQ(stored.centres.errors.counts_kept, 0.9);
  PhaseOptions options = field_options();
  options.method = IntegralMethod::dct;
  options.units = PhaseUnit::rad;
  const PhaseResult of_scan = made_of(hilly_centres(), options);
  const PhaseResult of_file =
      make_phase(std::move(stored.centres.field), phase_scale(path, stored.calibration, 4, 2, options), options, {},
                 std::move(stored.centres.errors));
  EXPECT_NEAR(of_file.rotation.rotation, of_scan.rotation.rotation, 1e-5);
  EXPECT_NEAR(of_file.noise->share, of_scan.noise->share, 1e-5 * of_scan.noise->share);
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < of_scan.phase.size(); ++i) {
    ASSERT_EQ(std::isnan(of_file.phase[i]), std::isnan(of_scan.phase[i]));
    if (std::isnan(of_scan.phase[i])) continue;
    most = std::max(most, std::abs(of_file.phase[i] - of_scan.phase[i]));
    largest = std::max(largest, std::abs(of_scan.phase[i]));
  }
  EXPECT_LT(most, 1e-4 * largest);  // centres near 16 px are stored with 1e-6 px, deflections of 0.1 px with 1e-5 of it
}

TEST(StoredCentres, KeepTheCalibration) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = folder.file("com.nc");
  write_netcdf(path, phase_contents(made_of(hilly_centres(), field_options()), ""), NetcdfFormat::netcdf4);
  const Calibration found = read_centres(path, sonde::testing::plenty()).calibration, stated = calibration_of_scan();
  EXPECT_EQ(found.high_tension_v->value, 200e3);
  EXPECT_EQ(found.high_tension_v->stated_by, StatedBy::user);
  EXPECT_EQ(found.scan_step_row_nm->value, 0.03);
  EXPECT_EQ(found.scan_step_col_nm->value, 0.035);
  EXPECT_EQ(found.scan_step_col_nm->stated_by, StatedBy::file);
  EXPECT_EQ(found.detector_step_inv_a->value, 0.0125);
  EXPECT_EQ(found.rotation_rad->value, 0.4);
  EXPECT_EQ(found.transpose, true);
  EXPECT_EQ(found.ellipse->a, stated.ellipse->a);
  EXPECT_EQ(found.ellipse->radius, stated.ellipse->radius);
  EXPECT_FALSE(found.camera_length_m);
}

TEST(StoredCentres, DamageIsNamedAndOtherFilesAreNone) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = folder.file("com.nc");
  const Contents whole = phase_contents(made_of(hilly_centres(), field_options()), "");
  const auto error_without = [&](const std::string& left_out, const std::string& settings = "") {
    Contents part;
    part.attribute("schema", std::string("sonde.stem.com/1"));
    for (const Contents::Variable& each : whole.variables()) {
      if (each.name == left_out) continue;
      if (each.text)
        part.add_text(each.name, each.name == "settings" && !settings.empty() ? settings : *each.text);
      else
        part.add(each.name, each.dimensions, alias(each.values)).unit(each.unit());
    }
    write_netcdf(path, part, NetcdfFormat::netcdf4);
    return sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)read_centres(path, sonde::testing::plenty()); });
  };
  for (const char* name : {"com/x", "com/y", "com/sum", "com/origin_x", "scale/pixel", "scale/step_col",
                           "rotation/degrees", "rotation/transpose", "settings"})
    EXPECT_EQ(error_without(name), "error: " + path +
                                       ": damaged: the centres of mass lack a part, or a part is not possible\n"
                                       "hint: make the file anew from the scan: sonde stem com SCAN -o FILE.h5")
        << name;
  EXPECT_THAT(error_without("", "{\"fit\": \"sphere\"}"), HasSubstr("damaged"));
  EXPECT_FALSE(is_centre_file(folder.file("absent.h5"), sonde::testing::plenty()));
  std::ofstream(folder.file("text.h5")) << "not a file of centres";
  EXPECT_FALSE(is_centre_file(folder.file("text.h5"), sonde::testing::plenty()));
}

TEST(PhaseOptionsOfAFile, TheStatedOrientationIsTakenUnlessTheCallerGivesOne) {
  const Calibration stated = calibration_of_scan();
  const StatedOrientation taken = with_orientation({}, stated);
  EXPECT_TRUE(taken.stated);
  EXPECT_NEAR(taken.options.rotation_request().rotation.value(), 0.4, 1e-9);
  EXPECT_EQ(taken.options.rotation_request().transpose, true);
  // An angle of another convention would be turned by it; what a file states is in that of this program.
  EXPECT_NEAR(
      with_orientation({.convention = Convention::py4dstem}, stated).options.rotation_request().rotation.value(), 0.4,
      1e-9);
  EXPECT_FALSE(with_orientation({.rotation = "12"}, stated).stated);
  EXPECT_FALSE(with_orientation({.transpose = "0"}, stated).stated);
  const PhaseOptions skipping{.skip_calibration = "rotation"};
  EXPECT_FALSE(with_orientation(skipping, skipping.used(stated)).stated);
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::usage, [] { PhaseOptions{.skip_calibration = "rotations"}.check(); }),
            "error: --skip-calibration: \"rotations\"; expected some of origin, ellipse, pixel, transpose, rotation");
}

TEST(PhaseOptionsOfAFile, AWrongStatedRotationIsNamedFirst) {
  const PhaseOptions options = with_orientation({}, calibration_of_scan()).options;
  const PhaseResult result = made_of(hilly_centres(), options);
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings.front(), HasSubstr("transposed scan: "));
}

TEST(FieldByItself, IsInPixelsMradOrInverseLengths) {
  PhaseOptions options = field_options();
  const PhaseResult in_px = made_of(hilly_centres(), options);
  EXPECT_TRUE(in_px.phase.empty());
  EXPECT_EQ(in_px.scale.field_unit(), "px");
  EXPECT_EQ(in_px.scale.derivative_unit(), "px/step");
  options.units = PhaseUnit::mrad;
  const PhaseResult in_mrad = made_of(hilly_centres(), options);
  EXPECT_EQ(in_mrad.scale.field_unit(), "mrad");
  options.units = PhaseUnit::rad;
  const PhaseResult in_inverse = made_of(hilly_centres(), options);
  EXPECT_EQ(in_inverse.scale.field_unit(), "1/A");
  EXPECT_EQ(in_inverse.scale.derivative_unit(), "1/A^2");
  for (std::size_t i = 0; i < in_px.field.x.size(); i += 7) {
    if (in_px.field.valid[i] == 0) continue;
    const double px = in_px.field.x[i];
    EXPECT_NEAR(in_mrad.field.x[i], px * 4 * 0.0125 * 25.0793, 1e-12);
    EXPECT_NEAR(in_inverse.field.x[i], px * 4 * 0.0125, 1e-12);
  }
  Calibration bare;
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input,
                                     [&] {
                                       (void)phase_scale("scan.npy", bare, 1, 1,
                                                         {.method = IntegralMethod::none, .units = PhaseUnit::mrad});
                                     }),
            "error: scan.npy: the angle of a detector pixel is not known, which the field needs\n"
            "hint: give --camera-length, or take --units px for detector pixels");
}

}  // namespace
}  // namespace sonde::stem
