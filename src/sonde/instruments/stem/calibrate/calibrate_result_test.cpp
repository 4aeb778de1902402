// SPDX-License-Identifier: Apache-2.0
// From the frames of a powder to ellipse and size of a pixel, and what is wrong first.
#include "sonde/instruments/stem/calibrate/calibrate_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "sonde/engine/io/netcdf_writer.h"
#include "sonde/engine/io/npy.h"
#include "sonde/instruments/stem/calibrate/test_rings.h"
#include "sonde/instruments/stem/radial/radial_result.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

/// Six patterns, as u16.
std::string scan_of(const sonde::testing::TemporaryFolder& folder, const Rings& rings) {
  const std::string path = folder.file("powder.npy");
  std::vector<std::uint16_t> frames;
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const double counts : rings.counts(seed)) frames.push_back(static_cast<std::uint16_t>(counts));
  write_npy(path, Array::from(frames, {2, 3, rings.rows, rings.cols}));
  return path;
}

Dataset loaded(const std::string& path) {
  LoadOptions options;
  options.layout = LayoutChoice::file;
  return load(path, options, sonde::testing::plenty());
}

/// The lines of the drawn rings.
std::string list_of(const sonde::testing::TemporaryFolder& folder, const Rings& rings, double stretch = 1) {
  const std::string path = folder.file("lines.D");
  std::ofstream file(path);
  for (std::size_t i = 0; i < rings.lines.size(); ++i)
    file << stretch / rings.lines[i] << " # (1, 1, " << i << ") " << 100 * rings.heights[i] << "\n";
  return path;
}

Rings stretched() {
  Rings rings;
  rings.disk = 4000;
  rings.a = std::sqrt(1.03);
  rings.b = 1 / rings.a;
  rings.theta = 0.7;
  return rings;
}

TEST(CalibrateResult, FindsEllipseAndPixelWithNothingButTheLines) {
  const sonde::testing::TemporaryFolder folder;
  const Rings rings = stretched();
  const Dataset scan = loaded(scan_of(folder, rings));
  const CalibrateResult found = make_calibration(scan, {.calibrant = list_of(folder, rings)});
  EXPECT_THAT(found.warnings, ::testing::IsEmpty());
  EXPECT_NEAR(found.ellipse.ratio(), 1.03, 4 * found.ellipse.ratio_error + 5e-4);
  EXPECT_LT(found.ellipse.ratio_error, 2e-3);
  EXPECT_NEAR(found.ellipse.ellipse.theta, 0.7, 4 * found.ellipse.theta_error + 0.02);
  ASSERT_TRUE(found.q_pixel_stored());
  EXPECT_NEAR(*found.q_pixel_stored(), rings.q_pixel, 1e-3 * rings.q_pixel);
  EXPECT_THAT(found.lines_of_report().back(), HasSubstr("rings on lines of "));
  const Contents contents = found.contents("");
  EXPECT_NE(contents.find("calibration/q_pixel"), nullptr);
  EXPECT_NE(contents.find("calibration/ellipse_theta"), nullptr);
  EXPECT_EQ(found.chart().facets.size(), 1u);
}

TEST(CalibrateResult, WithoutTheEllipseItIsAllOfIt) {
  const sonde::testing::TemporaryFolder folder;
  const Dataset scan = loaded(scan_of(folder, stretched()));
  const CalibrateResult circles = make_calibration(scan, {.fit_ellipse = false});
  EXPECT_EQ(circles.contents("").find("calibration/ellipse_a"), nullptr);
  EXPECT_FALSE(circles.q_pixel_stored());
}

TEST(CalibrateResult, OtherLinesAreNamed) {
  const sonde::testing::TemporaryFolder folder;
  const Rings rings = stretched();
  const Dataset scan = loaded(scan_of(folder, rings));
  std::ofstream(folder.file("other.D")) << "5.1\n4.4\n3.1\n2.9\n2.05\n1.93\n1.71\n1.66\n1.5\n";
  const CalibrateResult found = make_calibration(scan, {.calibrant = folder.file("other.D")});
  ASSERT_FALSE(found.warnings.empty());
  EXPECT_THAT(found.warnings.front(), HasSubstr("the size of a pixel is not determined: "));
  EXPECT_EQ(found.contents("").find("calibration/q_pixel"), nullptr);
}

TEST(CalibrateResult, APatternWithoutRingsIsNamedFirst) {
  const sonde::testing::TemporaryFolder folder;
  Rings rings;
  rings.disk = 4000;
  rings.heights.assign(rings.lines.size(), 0);
  const CalibrateResult found = make_calibration(loaded(scan_of(folder, rings)), {});
  ASSERT_FALSE(found.warnings.empty());
  EXPECT_THAT(found.warnings.front(), HasSubstr("rings were found: this is not the pattern of a powder"));
}

TEST(CalibrateResult, NoRoomForRingsIsRefused) {
  const sonde::testing::TemporaryFolder folder;
  const Dataset scan = loaded(scan_of(folder, stretched()));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)make_calibration(scan, {.inner = 56.0}); }),
              HasSubstr("no rings between 56.0 px, as given, and"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)make_calibration(scan, {.outer = 1e4}); }),
              HasSubstr("rings up to 10000 px; the farthest pixel is "));
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)make_calibration(scan, {.centre = "500,60"}); }),
      HasSubstr("the centre (500, 60) is not on the detector of 118 x 131 pixels"));
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::usage, [] { CalibrateOptions{.inner = 20.0, .outer = 21.0}.check(); }),
      HasSubstr("rings from 20 to 21 px; expected 4 px or more between them"));
}

/// Mean radius and width of the ring at 0.40042 1/A in a mean profile, above the line through its surroundings.
struct ThirdRing {
  double middle = 0, width = 0;
};
ThirdRing third_ring(const RadialResult& radial) {
  const RadialBins& bins = radial.plan.bins();
  std::vector<double> places, values;
  for (Index i = 0; i < bins.radii; ++i)
    if (const double r = bins.radius(i) * radial.scale.per_px; r > 0.365 && r < 0.435) {
      places.push_back(r);
      values.push_back(radial.mean[static_cast<std::size_t>(i)]);
    }
  const double slope = (values.back() - values.front()) / (places.back() - places.front());
  double sum = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double above = values[i] - values.front() - slope * (places[i] - places.front());
    sum += above;
    first += above * places[i];
    second += above * places[i] * places[i];
  }
  return {first / sum, std::sqrt(second / sum - first * first / (sum * sum))};
}

TEST(CalibrateResult, AnotherScanHasRoundRingsInInverseAngstrom) {
  const sonde::testing::TemporaryFolder folder;
  Rings rings = stretched();
  rings.a = std::sqrt(1.08);
  rings.b = 1 / rings.a;
  const CalibrateResult made = make_calibration(loaded(scan_of(folder, rings)), {.calibrant = list_of(folder, rings)});
  const std::string file = folder.file("calibration.nc");
  write_netcdf(file, made.contents(""), NetcdfFormat::netcdf4);
  LoadOptions options;
  options.layout = LayoutChoice::file;
  options.calibration = file;
  const Dataset scan = load(folder.file("powder.npy"), options, sonde::testing::plenty());
  RadialOptions radial;
  radial.bins = 200;
  const RadialResult round = make_radial(scan, radial, sonde::testing::plenty());
  EXPECT_EQ(round.scale.unit, "1/A");
  EXPECT_EQ(round.ellipse_from, StatedBy::calibration);
  EXPECT_TRUE(round.stated_centre);
  EXPECT_THAT(round.warnings, ::testing::IsEmpty());
  radial.skip_calibration = "ellipse";
  const ThirdRing ring = third_ring(round), smeared = third_ring(make_radial(scan, radial, sonde::testing::plenty()));
  // A tenth of a pixel, of which the bent background under the ring takes most.
  EXPECT_NEAR(ring.middle, rings.lines[2], 0.1 * rings.q_pixel);
  // The ring has 0.8 px, pixels and bins widen it to 0.9; 8 % of 32 px spread it by 0.9 px in the root mean square.
  EXPECT_LT(ring.width, 1.0 * rings.q_pixel);
  EXPECT_GT(smeared.width, 1.1 * ring.width);
  radial.skip_calibration = "origin,ellipse,pixel";
  const RadialResult none = make_radial(scan, radial, sonde::testing::plenty());
  EXPECT_EQ(none.scale.unit, "px");
  EXPECT_FALSE(none.stated_centre || none.ellipse_from);
}

TEST(CalibrateResult, ACentreOfAnotherScanIsDoubted) {
  const sonde::testing::TemporaryFolder folder;
  Rings rings = stretched();
  const CalibrateResult made = make_calibration(loaded(scan_of(folder, rings)), {});
  const std::string file = folder.file("calibration.nc");
  write_netcdf(file, made.contents(""), NetcdfFormat::netcdf4);
  rings.row += 4;
  LoadOptions options;
  options.layout = LayoutChoice::file;
  options.calibration = file;
  const Dataset moved = load(scan_of(folder, rings), options, sonde::testing::plenty());
  const RadialResult radial = make_radial(moved, {}, sonde::testing::plenty());
  ASSERT_FALSE(radial.warnings.empty());
  EXPECT_THAT(radial.warnings.front(),
              HasSubstr("px from the centre of the calibration file: the rings are not round"));
  RadialOptions given;
  given.centre = "61.3,66.8";
  EXPECT_THAT(make_radial(moved, given, sonde::testing::plenty()).warnings, ::testing::IsEmpty());
}

}  // namespace
}  // namespace sonde::stem
