// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

DetectorGeometry detector(Index rows, Index cols) { return {rows, cols, {}, {}, {}, {}}; }

DetectorGeometry with_disk(Index rows, Index cols, double row, double col, double radius) {
  return {rows, cols, row, col, radius, {}};
}

/// Pixels for which a plain predicate on (row, col) holds.
template <class Predicate>
std::vector<Index> pixels_where(Index rows, Index cols, Predicate&& holds) {
  std::vector<Index> pixels;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      if (holds(static_cast<double>(row), static_cast<double>(col))) pixels.push_back(row * cols + col);
  return pixels;
}

std::string usage_error(std::string_view text, const DetectorGeometry& geometry = detector(20, 20)) {
  return sonde::testing::error_of(ErrorKind::usage, [&] { (void)detector_mask(text, geometry); });
}

TEST(Expression, CircleIsHalfOpen) {
  // 3-4-5 triangles put pixels at distance exactly 5.
  const Mask open = detector_mask("circle(10,10,5)", detector(21, 21));
  EXPECT_EQ(open.pixels, pixels_where(21, 21, [](double r, double c) { return std::hypot(r - 10, c - 10) < 5; }));
  const Mask closed =
      detector_mask("circle(10,10,5)", detector(21, 21), {.inclusive = true, .antialias = false, .load = {}});
  EXPECT_EQ(closed.area(), open.area() + 12);  // 4 on the axes and 8 of (3, 4)
}

TEST(Expression, AdjacentAnnuliPartitionTheDetector) {
  Index area = 0;
  for (const char* ring :
       {"annulus(7.3,9.1,0,2)", "annulus(7.3,9.1,2,5)", "annulus(7.3,9.1,5,5.5)", "annulus(7.3,9.1,5.5,99)"})
    area += detector_mask(ring, detector(17, 19)).area();
  EXPECT_EQ(area, 17 * 19);
}

TEST(Expression, RunsAreThePixelsNamed) {
  // The third run repeats a pixel, the others leave the detector.
  EXPECT_THAT(detector_mask("runs(1,2,4,3,-5,1,1,3,4,2,5,99,-1,0,6,6,0,6)", detector(6, 6)).pixels,
              ElementsAre(8, 9, 17, 18));
  EXPECT_EQ(detector_mask("runs(0,0,3) | !runs(0,0,3)", detector(6, 6)).area(), 36);
}

TEST(Expression, SegmentsPartitionTheAnnulus) {
  const Mask ring = detector_mask("annulus(8,8,0,7)", detector(17, 17));  // the centre lies on a pixel
  std::vector<Index> together;
  for (int k = 0; k < 7; ++k) {
    const Mask piece = detector_mask("segment(8,8,0,7," + std::to_string(k) + ",7,0.3)", detector(17, 17));
    together.insert(together.end(), piece.pixels.begin(), piece.pixels.end());
  }
  EXPECT_EQ(static_cast<Index>(together.size()), ring.area());  // nothing twice
  EXPECT_EQ(make_mask(17, 17, together).pixels, ring.pixels);   // nothing missing
}

TEST(Expression, SegmentsGoClockwiseFromTheRight) {
  // Rows point downwards: the first quarter, 0 <= phi < 90 degrees, is to the lower right.
  const auto quarter = [](int k) {
    return detector_mask("segment(2,2,0.5,9," + std::to_string(k) + ",4)", detector(5, 5)).pixels;
  };
  EXPECT_THAT(quarter(0), ElementsAre(13, 14, 18, 19, 23, 24));  // right axis and below
  EXPECT_THAT(quarter(1), ElementsAre(15, 16, 17, 20, 21, 22));  // lower axis and left of it
}

TEST(Expression, SegmentAnglesMayBeGivenInDegrees) {
  const Mask degrees = detector_mask("segment(8,8,1,7,0,3,30deg)", detector(17, 17));
  const std::string radians = std::to_string(std::numbers::pi / 6);  // six digits: no pixel lies that close to the edge
  EXPECT_EQ(degrees.pixels, detector_mask("segment(8,8,1,7,0,3," + radians + ")", detector(17, 17)).pixels);
}

TEST(Expression, EllipseOfEqualSemiAxesIsTheCircle) {
  // Radius 5 has pixels exactly on the boundary (3-4-5).
  EXPECT_EQ(detector_mask("ellipse(10,10,5,5)", detector(21, 21)).pixels,
            detector_mask("circle(10,10,5)", detector(21, 21)).pixels);
  const MembershipRules closed{.inclusive = true, .antialias = false, .load = {}};
  EXPECT_EQ(detector_mask("ellipse(10,10,5,5)", detector(21, 21), closed).pixels,
            detector_mask("circle(10,10,5)", detector(21, 21), closed).pixels);
  EXPECT_EQ(detector_mask("ellipse(10,10,0,5)", detector(21, 21)).area(), 0);
  EXPECT_EQ(detector_mask("ellipse(10,10,0,5)", detector(21, 21), closed).area(), 11);  // rows 5 to 15
}

TEST(Expression, EllipseHasItsFirstSemiAxisInItsDirection) {
  EXPECT_EQ(detector_mask("ellipse(15.2,19.7,9,4)", detector(32, 40)).pixels,
            pixels_where(32, 40, [](double r, double c) {
              return std::pow((c - 19.7) / 9, 2) + std::pow((r - 15.2) / 4, 2) < 1;
            }));
  EXPECT_EQ(detector_mask("ellipse(15.2,19.7,9,4,90deg)", detector(32, 40)).pixels,
            detector_mask("ellipse(15.2,19.7,4,9)", detector(32, 40)).pixels);
  // Rows point downwards: 45 degrees is to the lower right.
  const Mask turned = detector_mask("ellipse(15,15,9,2,45deg)", detector(31, 31));
  EXPECT_THAT(turned.pixels, Contains(20 * 31 + 20));
  EXPECT_THAT(turned.pixels, Not(Contains(10 * 31 + 20)));
}

TEST(Expression, EllipseHasTheAreaOfItsSemiAxes) {
  const MembershipRules soft{.inclusive = false, .antialias = true, .load = {}};
  const Mask mask = detector_mask("ellipse(auto,auto,2rho,rho,0.3)", with_disk(41, 43, 20.3, 20.6, 6), soft);
  double area = 0;
  for (const float weight : mask.weights) area += static_cast<double>(weight);
  EXPECT_NEAR(area, std::numbers::pi * 12 * 6, 0.5);  // 64 points per pixel, as for the circle below
}

TEST(Expression, RectangleTakesTwoCornersHalfOpen) {
  EXPECT_EQ(detector_mask("rect(1,2,3,5)", detector(6, 7)).pixels,
            pixels_where(6, 7, [](double r, double c) { return r >= 1 && r < 3 && c >= 2 && c < 5; }));
  EXPECT_EQ(detector_mask("rect(-5,-5,100,100)", detector(6, 7)).area(), 42);
}

TEST(Expression, PointIsTheNearestPixel) {
  EXPECT_THAT(detector_mask("point(2.4,3.5)", detector(6, 7)).pixels, ElementsAre(2 * 7 + 4));
  EXPECT_EQ(detector_mask("point(-3,0)", detector(6, 7)).area(), 0);
}

TEST(Expression, PolygonOwnsItsUpperAndLeftEdges) {
  // A square with corners on pixel centres: like rect(1,1,4,4).
  EXPECT_EQ(detector_mask("polygon(1,1,1,4,4,4,4,1)", detector(6, 6)).pixels,
            detector_mask("rect(1,1,4,4)", detector(6, 6)).pixels);
}

TEST(Expression, PolygonsThatShareAnEdgeShareNoPixel) {
  const Mask upper = detector_mask("polygon(0,0,0,9,9,9)", detector(10, 10));
  const Mask lower = detector_mask("polygon(0,0,9,9,9,0)", detector(10, 10));
  const Mask square = detector_mask("polygon(0,0,0,9,9,9,9,0)", detector(10, 10));
  EXPECT_EQ(upper.area() + lower.area(), square.area());
  EXPECT_EQ(detector_mask("polygon(0,0,0,9,9,9) | polygon(0,0,9,9,9,0)", detector(10, 10)).pixels, square.pixels);
}

TEST(Expression, PolygonFollowsTheEvenOddRule) {
  // A square wound twice, the second time smaller: the middle is outside.
  const Mask ring = detector_mask("polygon(0,0,0,8,8,8,8,0,0,0,2,2,2,6,6,6,6,2,2,2)", detector(9, 9));
  EXPECT_EQ(ring.pixels, detector_mask("rect(0,0,8,8) - rect(2,2,6,6)", detector(9, 9)).pixels);
}

TEST(Expression, OperatorsAreThoseOfSets) {
  const auto pixels = [](std::string_view text) { return detector_mask(text, detector(1, 8)).pixels; };
  // a = 0..3, b = 2..5
  EXPECT_THAT(pixels("rect(0,0,1,4) & rect(0,2,1,6)"), ElementsAre(2, 3));
  EXPECT_THAT(pixels("rect(0,0,1,4) | rect(0,2,1,6)"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(pixels("rect(0,0,1,4) ^ rect(0,2,1,6)"), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(pixels("rect(0,0,1,4) - rect(0,2,1,6)"), ElementsAre(0, 1));
  EXPECT_THAT(pixels("!rect(0,0,1,4)"), ElementsAre(4, 5, 6, 7));
}

TEST(Expression, NotBindsTighterThanAndThanEitherThanOr) {
  const auto same = [](std::string_view a, std::string_view b) {
    EXPECT_EQ(detector_mask(a, detector(1, 8)).pixels, detector_mask(b, detector(1, 8)).pixels) << a;
  };
  same("!rect(0,0,1,4) & rect(0,2,1,6)", "(!rect(0,0,1,4)) & rect(0,2,1,6)");
  same("point(0,0) | point(0,1) & point(0,2)", "point(0,0) | (point(0,1) & point(0,2))");
  same("point(0,0) | all ^ point(0,0)", "point(0,0) | (all ^ point(0,0))");
  same("all - point(0,1) & rect(0,0,1,3)", "(all - point(0,1)) & rect(0,0,1,3)");
}

TEST(Expression, PresetsAreAnnuliInBrightFieldRadii) {
  const DetectorGeometry geometry = with_disk(40, 42, 19.3, 20.7, 4.5);
  const auto same = [&](std::string_view preset, std::string_view annulus) {
    EXPECT_EQ(detector_mask(preset, geometry).hash, detector_mask(annulus, geometry).hash) << preset;
  };
  same("bf", "circle(19.3,20.7,4.5)");
  same("ABF", "annulus(auto,auto,2.25,4.5)");
  same("adf", "annulus(auto,auto,rho,2rho)");
  same("HAADF", "annulus(19.3,20.7,9,18)");
}

TEST(Expression, BadPixelsAreNeverInAMask) {
  DetectorGeometry geometry = detector(4, 4);
  geometry.good.assign(16, 1);
  geometry.good[5] = 0;
  EXPECT_EQ(detector_mask("all", geometry).area(), 15);
  EXPECT_EQ(detector_mask("!rect(0,0,1,4)", geometry).area(), 11);
}

TEST(Expression, AntialiasWeighsByCoveredArea) {
  const MembershipRules soft{.inclusive = false, .antialias = true, .load = {}};
  const Mask disk = detector_mask("circle(15.2,14.9,9)", detector(31, 31), soft);
  ASSERT_FALSE(disk.boolean());
  double area = 0;
  for (const float weight : disk.weights) area += static_cast<double>(weight);
  // 64 points per pixel: the error of a boundary of 2 pi r pixels is far below one part in a hundred.
  EXPECT_NEAR(area, std::numbers::pi * 81, 0.5);
  // A half plane through a pixel's centre covers half of it.
  const Mask half = detector_mask("polygon(-9,-9,-9,2,9,2,9,-9)", detector(3, 3), soft);
  EXPECT_THAT(half.weights, ElementsAre(1.f, 1.f, 0.5f, 1.f, 1.f, 0.5f, 1.f, 1.f, 0.5f));
}

TEST(Expression, AntialiasedWholePixelsAreABooleanMask) {
  EXPECT_TRUE(
      detector_mask("rect(1,1,3,3)", detector(6, 6), {.inclusive = false, .antialias = true, .load = {}}).boolean());
}

TEST(Expression, FileGivesWeightsAloneAndSetsInCombination) {
  MembershipRules rules;
  rules.load = [](const std::string& path) {
    EXPECT_EQ(path, "my mask, (2).npy");
    return MaskImage{2, 2, {1, 0, 1, 1}};
  };
  EXPECT_THAT(detector_mask("file('my mask, (2).npy') & !point(0,0)", detector(2, 2), rules).pixels, ElementsAre(2, 3));
  rules.load = [](const std::string&) { return MaskImage{2, 2, {1, 0, 0.5f, 2}}; };
  EXPECT_THAT(detector_mask("file(m.npy)", detector(2, 2), rules).weights, ElementsAre(1.f, 0.5f, 2.f));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { (void)detector_mask("file(m.npy) & all", detector(2, 2), rules); }),
              HasSubstr("m.npy: a weighted mask cannot be combined with others"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { (void)detector_mask("file(m.npy)", detector(4, 4), rules); }),
              HasSubstr("m.npy: a mask of 2 x 2 pixels, the detector has 4 x 4"));
}

TEST(Expression, ErrorsShowThePlace) {
  EXPECT_EQ(usage_error("circle(1,2,3) & annnulus(1,2,3,4)"),
            "error: detector expression: unknown name \"annnulus\"; did you mean \"annulus\"?\n"
            "  circle(1,2,3) & annnulus(1,2,3,4)\n"
            "                  ^\n"
            "hint: known names are file, all, circle, annulus, segment, ellipse, rect, point, polygon, runs, rings, "
            "segments, bf, abf, adf and haadf");
}

struct Wrong {
  const char* text;
  const char* message;
};
TEST(Expression, EveryMistakeHasItsMessage) {
  const Wrong table[] = {
      {"", "expected a shape, but the text ends"},
      {"circle(1,2,3) &", "expected a shape, but the text ends"},
      {"circle(1,2,3) bf", "expected an operator or the end"},
      {"(all", "expected a closing parenthesis"},
      {"circle 3", "expected ( after circle, as in circle(row,col,r)"},
      {"circle(1,2)", "circle takes other arguments than these 2: circle(row,col,r)"},
      {"polygon(1,2,3,4,5,6,7)", "polygon takes other arguments than these 7"},
      {"runs(1,2,3,4)", "runs takes other arguments than these 4: runs(row,col0,col1,row,col0,col1,...)"},
      {"runs(1,2.5,3)", "runs are of whole pixels"},
      {"runs(1,2,3,4,5,5)", "the run holds no pixel"},
      {"runs(auto,2,3)", "auto means only the row or the column of a centre"},
      {"circle(1,x,3)", "expected a number, auto or rho"},
      {"circle(1,2,3mm)", "unknown unit \"mm\""},
      {"circle(1,2,-3)", "a radius is not negative"},
      {"circle(1,2,1e10)", "a number beyond 1e9"},
      {"circle(1,2,nan)", "expected a number, auto or rho"},
      {"annulus(1,2,5,4)", "the inner radius is larger than the outer one"},
      {"rect(0,96,0,192)", "the rectangle holds no pixel"},
      {"circle(1,2,auto)", "auto means only the row or the column of a centre"},
      {"circle(1rho,2,3)", "only radii are given in rho"},
      {"circle(1,2,3deg)", "only phi0 of segment and phi of ellipse are angles"},
      {"ellipse(1,2,3,-4)", "a radius is not negative"},
      {"segment(1,2,0,5,4,4)", "k is a whole number from 0 to n - 1"},
      {"segment(1,2,0,5,0,1.5)", "n is a whole number of segments, at least 1"},
      {"com-row", "com-row and com-col are first moments, not masks"},
      {"file(m.npy)", "files cannot be read here"},
      {"file('m.npy)", "the quoted path does not end"},
      {"file()", "expected a path"},
      {"bf", "the centre is not known"},
      {"circle(1,2,rho)", "the radius of the bright-field disk is not known"},
  };
  for (const Wrong& wrong : table) EXPECT_THAT(usage_error(wrong.text), HasSubstr(wrong.message)) << wrong.text;
}

TEST(DetectorSet, SegmentsShareNoPixelAndAreTheAnnulusTogether) {
  // The centre is on a pixel, and edges of rings and sectors pass through others.
  const DetectorGeometry shape = with_disk(19, 26, 9, 12, 6.5);
  for (const char* text : {"segments(auto,auto,0,8,4,4)", "segments(9,12,5,9.7,3,7,-30deg)",
                           "rings(auto,auto,0,1.3rho,7)", "segments(auto,auto,0.3rho,1.3rho,3,5,0.2)"}) {
    SCOPED_TRACE(text);
    const DetectorSet set = expand_detector(text);
    ASSERT_EQ(std::ssize(set.members), set.rings * set.sectors);
    const auto edge = [&](double value) { return value * (set.in_rho ? 6.5 : 1); };
    std::vector<Index> together;
    for (const std::string& member : set.members) {
      const Mask piece = detector_mask(member, shape);
      together.insert(together.end(), piece.pixels.begin(), piece.pixels.end());
    }
    const std::vector<Index> annulus = pixels_where(19, 26, [&](double r, double c) {
      const double d = std::hypot(r - 9, c - 12);
      return d >= edge(set.radii.front()) && d < edge(set.radii.back());
    });
    EXPECT_EQ(together.size(), annulus.size());              // nothing twice
    EXPECT_EQ(make_mask(19, 26, together).pixels, annulus);  // nothing missing
  }
}

TEST(DetectorSet, MembersAreRingsFromInsideWithTheirSectorsFromTheColumnsTowardTheRows) {
  const DetectorGeometry shape = with_disk(11, 15, 5, 7, 2);
  const DetectorSet set = expand_detector("segments(auto,auto,1,7,3,4)");
  EXPECT_EQ(set.rings, 3);
  EXPECT_EQ(set.sectors, 4);
  for (Index member = 0; member < 12; ++member) {
    SCOPED_TRACE(set.label(member));
    const auto ring = static_cast<double>(member / 4), sector = static_cast<double>(member % 4);
    const std::vector<Index> expected = pixels_where(11, 15, [&](double r, double c) {
      const double d = std::hypot(r - 5, c - 7);
      double turns = std::atan2(r - 5, c - 7) / (2 * std::numbers::pi);
      if (turns < 0) turns += 1;
      return d >= 1 + 2 * ring && d < 3 + 2 * ring && turns >= sector / 4 && turns < (sector + 1) / 4;
    });
    EXPECT_EQ(detector_mask(set.members[static_cast<std::size_t>(member)], shape).pixels, expected);
  }
  EXPECT_EQ(set.label(7), "ring 1, sector 3");
  EXPECT_EQ(expand_detector("segments(1,2,0,3,1,4)").label(3), "sector 3");
  EXPECT_EQ(expand_detector("rings(1,2,0,3,4)").label(3), "ring 3");
}

TEST(DetectorSet, OtherShapesStandBesideEveryMember) {
  const DetectorSet set = expand_detector("!rect(0,0,3,4) & RINGS( auto , 7.5,0, 1rho ,2) - point(5,7)");
  EXPECT_THAT(set.members, ElementsAre("!rect(0,0,3,4) & annulus(auto,7.5,0rho,0.5rho) - point(5,7)",
                                       "!rect(0,0,3,4) & annulus(auto,7.5,0.5rho,1rho) - point(5,7)"));
  EXPECT_THAT(expand_detector("segments(1,2,0,3,1,2,-45deg)").members,
              ElementsAre("segment(1,2,0,3,0,2,-45deg)", "segment(1,2,0,3,1,2,-45deg)"));
  EXPECT_THAT(expand_detector("bf - circle(1,2,3)").members, ElementsAre("bf - circle(1,2,3)"));
  EXPECT_FALSE(expand_detector("bf").several);
}

TEST(DetectorSet, ErrorsSayWhatIsWrong) {
  const Wrong table[] = {
      {"rings(1,2,0,5)", "rings takes other arguments than these 4: rings(row,col,r_in,r_out,n)"},
      {"rings(1,2,0,5,0)", "a number of pieces is a whole number, at least 1"},
      {"segments(1,2,0,5,2,2.5)", "a number of pieces is a whole number, at least 1"},
      {"segments(1,2,0,5,64,17)", "more than 1024 detectors"},
      {"rings(1,2,5,5,2)", "the rings have no width"},
      {"rings(1,2,6,5,2)", "the inner radius is larger than the outer one"},
      {"rings(1,2,6,5rho,2)", "one radius is in pixels, the other one in rho"},
      {"rings(1,2,0,5,2) | segments(1,2,0,5,2,2)", "an expression has only one of rings and segments"},
      {"segment(1,2,0,5,4,4)", "k is a whole number from 0 to n - 1"},
  };
  for (const Wrong& wrong : table)
    EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { (void)expand_detector(wrong.text); }),
                HasSubstr(wrong.message))
        << wrong.text;
  EXPECT_THAT(usage_error("segments(1,2,0,5,2,2)"),
              HasSubstr("segments are several detectors, but one is expected here"));
}

TEST(Expression, UnknownDiskHasAHint) {
  EXPECT_THAT(usage_error("adf"), HasSubstr("hint: find the bright-field disk with --centre auto"));
  EXPECT_TRUE(DetectorExpression::parse("adf").needs_disk());
  EXPECT_FALSE(DetectorExpression::parse("circle(1,2,3)").needs_disk());
}

TEST(Expression, DeepAndLongTextsAreRefused) {
  EXPECT_THAT(usage_error(std::string(100000, '(')), HasSubstr("more than 200 nested parts"));
  std::string chain = "all";
  for (int i = 0; i < 5000; ++i) chain += "|all";
  EXPECT_THAT(usage_error(chain), HasSubstr("more than 1000 parts"));
}

TEST(BinnedCoordinate, FollowsTheCentreOfTheBin) {
  EXPECT_DOUBLE_EQ(binned_coordinate(95.5, 2), 47.5);  // the centre of 192 pixels is that of 96
  EXPECT_DOUBLE_EQ(binned_coordinate(0.5, 2), 0);      // between pixels 0 and 1 lies the first bin's centre
  EXPECT_DOUBLE_EQ(binned_coordinate(7, 1), 7);
  EXPECT_DOUBLE_EQ(binned_length(30, 4), 7.5);
}

TEST(BinnedCoordinate, MaskOfWholeBinsCoversTheSamePixels) {
  // rect(4,8,12,16) in pixels is rect(2,4,6,8) in bins of 2.
  const Mask fine = detector_mask("rect(4,8,12,16)", detector(16, 16));
  const Mask coarse = detector_mask("rect(2,4,6,8)", detector(8, 8));
  EXPECT_EQ(fine.area(), 4 * coarse.area());
}

}  // namespace
}  // namespace sonde::stem
