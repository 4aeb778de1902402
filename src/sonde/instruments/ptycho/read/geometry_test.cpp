// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sonde/instruments/ptycho/read/frames.h"
#include "sonde/instruments/ptycho/read/scan.h"
#include "sonde/instruments/ptycho/scan/spacing.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A file that says all of itself: 200 keV, 64 pixels of 1.875 mrad, object pixels of 0.209 A, steps of 0.418 A.
Source described() {
  Source source;
  source.file = "/data/scan.h5";
  source.shape = Shape{12, 64, 64};
  source.scan_shape = Extent{3, 4};
  source.energy_kev = 200;
  source.mrad_per_px = 1.875;
  source.semiangle_mrad = 20;
  source.step_a = 0.418;
  return source;
}

Scan planned(const Source& source, const GeometrySettings& set, const DataSettings& data = {}) {
  return plan_scan(source, data, set, {});
}

TEST(GeometryOf, TheFileIsTakenAtItsWord) {
  const Geometry found = geometry_of(described(), {});
  EXPECT_NEAR(found.sampling.pixel_col(), 0.2089945036, 5e-11);
  EXPECT_EQ(found.semiangle, 0.020);
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST(GeometryOf, TheRunFileCountsMoreAndItIsSaid) {
  GeometrySettings set;
  set.energy_kev = 80;
  set.semiangle_mrad = 20.2;
  set.scan_step_a = 4.18;
  const Geometry found = geometry_of(described(), set);
  EXPECT_NEAR(found.sampling.wavelength, 0.04175716, 1e-8);
  EXPECT_THAT(found.warnings,
              ElementsAre("energy_keV = 80 of the run file is used, scan.h5 says 200: 0.4 times as much",
                          "scan_step_A = 4.18 of the run file is used, scan.h5 says 0.418: 10 times as "
                          "much"));
  // Within what calibrations are good for.
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("semiangle_mrad = 20.2 of the run file is used, scan.h5 says 20")));
}

TEST(GeometryOf, AnEnergyInElectronVoltsIsRefusedWithTheOneThatWasMeant) {
  GeometrySettings set;
  set.energy_kev = 200000;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)geometry_of(described(), set); }),
              AllOf(HasSubstr("energy_keV = 200000 of the run file: electrons for imaging have 1 to 10000 keV"),
                    HasSubstr("200000 eV would be energy_keV = 200")));
  set.energy_kev = 0.2;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)geometry_of(described(), set); }),
              HasSubstr("0.2 MeV would be energy_keV = 200"));
}

TEST(GeometryOf, AReciprocalPixelStandsForTheAngle) {
  Source source = described();
  source.mrad_per_px.reset();
  GeometrySettings set;
  set.detector_inv_a_per_px = 1 / (64 * 0.209);
  EXPECT_NEAR(geometry_of(source, set).sampling.pixel_col(), 0.209, 1e-12);
}

TEST(GeometryOf, TwoCalibrationsOfAFileThatDisagreeAreAnErrorUntilTheRunFileSettlesIt) {
  // Both follow from 300 keV; the microscope ran at 200 keV.
  Source source = described();
  source.energy_kev = 300;
  source.inv_a_per_px = 1.875e-3 / 0.01968749;
  GeometrySettings set;
  EXPECT_NO_THROW((void)geometry_of(source, set));
  set.energy_kev = 200;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)geometry_of(source, set); }),
              AllOf(HasSubstr("energy_keV = 200 of the run file and detector_mrad_per_px = 1.875 of scan.h5"),
                    HasSubstr("detector_inv_A_per_px = 0.0952381 of scan.h5"), HasSubstr("0.785 times as much")));
  set.detector_inv_a_per_px = source.inv_a_per_px;
  const Geometry found = geometry_of(source, set);
  EXPECT_NEAR(found.sampling.pixel_col(), 1 / (64 * *source.inv_a_per_px), 1e-12);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("energy_keV = 200 of the run file is used")));
  // Of a calibration that the file has only as an angle.
  source.inv_a_per_px.reset();
  EXPECT_THAT(
      geometry_of(source, set).warnings,
      ElementsAre(HasSubstr("energy_keV = 200"),
                  HasSubstr("detector_inv_A_per_px = 0.0952381 of the run file is used, scan.h5 says 0.0747627")));
}

TEST(GeometryOf, AnEnergyOfTheRunFileDoesNotTurnPhotonsIntoElectrons) {
  Source source;
  source.file = "scan.cxi";
  source.shape = Shape{4, 256, 256};
  source.probe_type = ProbeType::photon;
  source.detector_pixel_m = 75e-6;
  source.distance_m = 2;
  GeometrySettings set;
  set.energy_kev = 10;
  const Geometry found = geometry_of(source, set);
  EXPECT_EQ(found.probe_type, ProbeType::photon);
  EXPECT_NEAR(found.sampling.wavelength, 1.2398419843320026, 1e-12);
}

TEST(GeometryOf, InPixelsNamesTheLengthsThatHaveNoEffect) {
  GeometrySettings set;
  set.units = Units::pixel;
  set.energy_kev = 200;
  set.scan_step_a = 0.4;
  EXPECT_THAT(geometry_of(described(), set).warnings,
              ElementsAre("geometry.units is \"pixel\": energy_keV and scan_step_A are not used"));
}

/// Positions of the file, `spread` times as far apart as it says.
Source listed(double spread) {
  Source source = described();
  source.positions = raster_positions({.rows = 3, .cols = 4, .step_row = 0.418 * spread, .step_col = 0.418 * spread});
  source.unit = LengthUnit::angstrom;
  return source;
}

TEST(PlanScan, AListOfPositionsAndAStepOfTheRunFileMustAgree) {
  GeometrySettings set;
  set.scan_step_a = 0.43;  // three per cent
  EXPECT_NO_THROW((void)planned(listed(1), set));
  set.scan_step_a = 0.836;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)planned(listed(1), set); }),
              AllOf(HasSubstr("the positions are 0.418 A apart, scan_step_A = 0.836 of the run file: 2 times as much"),
                    HasSubstr("positions of a list need no step")));
  set.scan_step_a = 2;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)planned(listed(1), set); }),
              HasSubstr("a pixel is 0.209 A: is the step in pixels? scan_step_A = 0.418"));
  set.scan_step_a = 0.418;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)planned(listed(1 / 0.209), set); }),
              HasSubstr("are the positions in pixels? positions.unit = \"px\""));
}

TEST(PlanScan, AFileWhoseOwnStepAndPositionsDisagreeIsWarnedOf) {
  EXPECT_THAT(planned(listed(1), {}).warnings, IsEmpty());
  EXPECT_THAT(planned(listed(3), {}).warnings,
              ElementsAre(HasSubstr("the positions are 1.254 A apart, scan_step_A = 0.418 of scan.h5")));
}

TEST(PlanScan, ASemiangleBeyondTheDetectorIsRefusedWhateverTheFirstProbe) {
  GeometrySettings set;
  set.semiangle_mrad = 61;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)planned(described(), set); }),
              HasSubstr("a semiangle of 61 mrad on a detector that reaches to 60 mrad"));
  // The pixels that are added to reach a fast size were not measured.
  Source odd = described();
  odd.shape = Shape{12, 61, 61};
  set.semiangle_mrad = 58;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)planned(odd, set); }), HasSubstr("reaches to 57.19 mrad"));
}

TEST(PlanScan, LinesThatGoDownAreSuspectedToHoldColumnsFirst) {
  DataSettings data;
  data.positions = "positions.npy";
  EXPECT_THAT(planned(listed(1), {}, data).warnings, IsEmpty());
  Source exchanged = listed(1);
  for (Point& point : exchanged.positions) point = {point.col, point.row};
  EXPECT_THAT(planned(exchanged, {}, data).warnings, ElementsAre(HasSubstr("geometry.transpose = true")));
  GeometrySettings set;
  set.transpose = true;
  EXPECT_THAT(planned(exchanged, set, data).warnings, IsEmpty());
}

TEST(PlanScan, ATurnIsOneOfTheSpecimenWhenPixelsAreOblong) {
  Source source = described();
  source.shape = Shape{12, 64, 32};
  GeometrySettings set;
  set.scan_rotation_deg = 30;
  const Scan scan = planned(source, set);
  const std::vector<Point> places = in_angstrom(scan.positions, scan.sampling);
  EXPECT_NEAR(spacing_of(places).nearest, 0.418, 1e-12);
  EXPECT_NEAR(spacing_of(places).across, 0.418, 1e-12);
}

TEST(AxesDoubtful, WhenFramesVaryLikePixelsAndPixelsLikeFrames) {
  // A disk of 1 on 9 of 36 places, and a scan of 6 to 8 counts.
  std::vector<double> disk(36, 0.0), scan(36, 6.0);
  for (std::size_t i = 12; i < 21; ++i) disk[i] = 100;
  for (std::size_t i = 0; i < 36; i += 2) scan[i] = 8;
  const auto counted = [](const std::vector<double>& totals) {
    std::vector<CountSums> sums(totals.size());
    for (std::size_t i = 0; i < totals.size(); ++i) sums[i].counts = totals[i];
    return sums;
  };
  EXPECT_FALSE(axes_doubtful(disk, {}, counted(scan)));
  EXPECT_TRUE(axes_doubtful(scan, {}, counted(disk)));
  EXPECT_FALSE(axes_doubtful(scan, {}, counted(scan)));
}

TEST(BrightDisk, IsACircleOfTheAreaThatIsLit) {
  const Sampling sampling = electron_sampling(64, 64, 200, 2);
  Array mean = Array::zeros(Device::cpu(), Shape{64, 64}, DType::f64);
  const auto pixels = mean.view<double, 2>();
  for (Index r = 0; r < 64; ++r)
    for (Index c = 0; c < 64; ++c) {
      const double away =
          std::hypot(static_cast<double>(std::min(r, 64 - r)), static_cast<double>(std::min(c, 64 - c)));
      pixels(r, c) = away <= 10 ? 50 + static_cast<double>(c % 2) : 0.3;  // scattered all over
    }
  // 317 pixels lie within ten of the middle: a radius of 10.05.
  EXPECT_NEAR(bright_disk(std::as_const(mean).view<double, 2>(), sampling).value().radius, 0.02, 0.0002);
  EXPECT_NEAR(bright_disk(std::as_const(mean).view<double, 2>(), sampling).value().centre.row, 0, 1e-12);
  std::rotate(pixels.data, pixels.data + 3 * 64, pixels.data + 64 * 64);  // up by three rows
  const BrightDisk moved = bright_disk(std::as_const(mean).view<double, 2>(), sampling).value();
  EXPECT_NEAR(moved.centre.row, -3, 1e-12);
  EXPECT_NEAR(moved.centre.col, 0, 1e-12);
  for (Index r = 0; r < 64; ++r)
    for (Index c = 0; c < 64; ++c) pixels(r, c) = r + c == 0 ? 1 : 0;
  EXPECT_FALSE(bright_disk(std::as_const(mean).view<double, 2>(), sampling).has_value());
}

}  // namespace
}  // namespace sonde::ptycho
