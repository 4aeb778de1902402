// SPDX-License-Identifier: Apache-2.0
// From the frames of a powder to ellipse and size of a pixel, and what is wrong first.
#include "sonde/instruments/stem/calibrate/calibrate_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "sonde/engine/io/npy.h"
#include "sonde/instruments/stem/calibrate/test_rings.h"
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

}  // namespace
}  // namespace sonde::stem
