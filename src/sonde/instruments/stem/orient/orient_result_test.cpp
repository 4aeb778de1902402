// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/orient_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/orient/euler_angles.h"
#include "sonde/instruments/stem/orient/orient_page.h"
#include "sonde/instruments/stem/orient/test_crystals.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

constexpr double q_pixel = 0.02;  // 1/A
const Orientation grains[2] = {orientation_along(normalised({0.35, 0.2, 0.9})),
                               times(orientation_along(normalised({0.1, 0.6, 0.7})), turn_in_plane(0.4))};

/// Two grains, the left and the right half of 3 x 4 positions; the detector is not square and the centre moves.
BraggVectors two_grains() {
  const std::vector<Reflection> reflections = list_reflections(gold(), 1.5);
  BraggVectors vectors;
  vectors.scan_rows = 3;
  vectors.scan_cols = 4;
  vectors.rows = 170;
  vectors.cols = 190;
  vectors.offsets = {0};
  vectors.calibration.pixel_inv_a = q_pixel;
  vectors.calibration.high_tension_v = 200e3;
  for (Index position = 0; position < vectors.positions(); ++position) {
    const Index row = position / 4, col = position % 4;
    const double x = 95 + 0.3 * static_cast<double>(col), y = 84 - 0.2 * static_cast<double>(row);
    const auto add = [&](double qx, double qy, double intensity) {
      vectors.qx.push_back(static_cast<float>(x + qx / q_pixel));
      vectors.qy.push_back(static_cast<float>(y + qy / q_pixel));
      vectors.intensity.push_back(static_cast<float>(intensity));
    };
    add(0, 0, 10);
    for (const KinematicSpot& spot : kinematic_pattern(reflections, grains[col / 2], {.wavelength = 0.0250793}))
      add(spot.x, spot.y, spot.intensity);
    vectors.offsets.push_back(vectors.qx.size());
    vectors.valid.push_back(1);
  }
  return vectors;
}

TEST(OrientResult, HoldsTheGrainsOfAScan) {
  const OrientResult result = make_orient(two_grains(), gold(), {}, sonde::testing::plenty());
  const std::vector<Mat3> proper = result.plan.group().proper();
  ASSERT_EQ(result.matched(), 12);
  for (std::size_t i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    const OrientationMatch& match = result.matches[i].matches[0];
    double error = misorientation(match.orientation, grains[i % 4 / 2], proper);
    if (match.other) error = std::min(error, misorientation(*match.other, grains[i % 4 / 2], proper));
    EXPECT_LT(error, 0.05 * std::numbers::pi / 180);  // as of random orientations
    EXPECT_EQ(result.explained[i], 1);
  }
  const Contents contents = result.contents("sonde stem orient");
  const Contents::Variable* const matrix = contents.find("orientation/matrix");
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(matrix->values.shape(), (Shape{3, 4, 1, 3, 3}));
  EXPECT_NEAR(static_cast<double>((matrix->values.view<float, 5>()(0, 3, 0, 0, 1))),
              result.matches[3].matches[0].orientation[0][1], 1e-7);
  EXPECT_EQ(result.picture().shape()[2], 3);
  EXPECT_FALSE(result.failed());
}

TEST(OrientResult, HasItsGrainsWithTheirMeanAndSpread) {
  const OrientResult result = make_orient(two_grains(), gold(), {}, sonde::testing::plenty());
  ASSERT_EQ(result.grains.grains.size(), 2U);
  EXPECT_THAT(result.grains.grain, ::testing::ElementsAre(1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2));
  EXPECT_THAT(result.lines(), ::testing::Contains(HasSubstr("grains    2, of 12 positions; ")));
  EXPECT_EQ(result.grain_table().size(), 2U);
  const Contents contents = result.contents("sonde stem orient");
  EXPECT_EQ((contents.find("orientation/grain")->values.view<std::int32_t, 2>()(2, 1)), 1);
  EXPECT_EQ(contents.find("orientation/boundary")->unit(), "degrees");
  const auto boundary = contents.find("orientation/boundary")->values.view<float, 2>();
  EXPECT_NEAR(static_cast<double>(boundary(1, 2)),
              misorientation(grains[0], grains[1], result.plan.proper()) * 180 / std::numbers::pi, 0.05);
  EXPECT_LT(boundary(1, 3), 0.05F);
  EXPECT_NE(contents.find("grains/spread"), nullptr);
  OrientOptions none;
  none.grains.angle = 0;
  const OrientResult without = make_orient(two_grains(), gold(), none, sonde::testing::plenty());
  EXPECT_EQ(without.contents("").find("orientation/grain"), nullptr);
  EXPECT_EQ(without.to_value().find("grains"), nullptr);
}

TEST(OrientResult, ItsPageShowsColoursWithTheirMeaningAndGrains) {
  const OrientResult result = make_orient(two_grains(), gold(), {}, sonde::testing::plenty());
  auto contents = std::make_shared<const Contents>(result.contents(""));
  const auto colours = contents->find("orientation/colours")->values.view<std::uint8_t, 3>();
  const ZoneSector sector(gold(), result.plan.group());
  const Colour right = sector.colour(transposed(result.matches[7].matches[0].orientation)[2]);
  EXPECT_EQ((Colour{colours(1, 3, 0), colours(1, 3, 1), colours(1, 3, 2)}), right);
  const auto stored = panel::StoredResult::of(contents, "orientation.h5");
  const auto panels = arrange_orientation(stored.value());
  EXPECT_EQ(panels.at(0).title, "Beam along: red [0 0 1], green [1 0 1], blue [1 1 1]");
  const auto page = panel::result_page(std::make_shared<const panel::StoredResult>(*stored), panels);
  std::vector<std::string> types;
  for (std::size_t i = 0; i < 3; ++i) types.push_back(page.panels.at(i).type);
  EXPECT_THAT(types, ::testing::ElementsAre("colours", "labels", "picture"));
}

// The right half is iron: it has a grain of its own, with iron's turns and colours, and no angle to its neighbours of
// gold.
TEST(OrientResult, EveryPhaseHasItsGrains) {
  BraggVectors vectors = two_grains();
  const std::vector<Reflection> iron_lines = list_reflections(iron(), 1.5);
  BraggVectors both = vectors;
  both.qx.clear();
  both.qy.clear();
  both.intensity.clear();
  both.offsets = {0};
  for (Index position = 0; position < vectors.positions(); ++position) {
    const auto from = static_cast<std::size_t>(vectors.first(position)),
               to = static_cast<std::size_t>(vectors.last(position));
    const bool is_iron = position % 4 >= 2;
    for (std::size_t i = from; i < (is_iron ? from + 1 : to); ++i) {
      both.qx.push_back(vectors.qx[i]);
      both.qy.push_back(vectors.qy[i]);
      both.intensity.push_back(vectors.intensity[i]);
    }
    if (is_iron)
      for (const KinematicSpot& spot : kinematic_pattern(iron_lines, grains[1], {.wavelength = 0.0250793})) {
        both.qx.push_back(vectors.qx[from] + static_cast<float>(spot.x / q_pixel));
        both.qy.push_back(vectors.qy[from] + static_cast<float>(spot.y / q_pixel));
        both.intensity.push_back(static_cast<float>(spot.intensity));
      }
    both.offsets.push_back(both.qx.size());
  }
  const OrientResult result = make_orient(both, std::vector{gold(), iron()}, {}, sonde::testing::plenty());
  ASSERT_TRUE(result.phases);
  EXPECT_THAT(result.phases->phase, ::testing::ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_EQ(result.phases->undecided(), 0);
  EXPECT_THAT(result.grains.grain, ::testing::ElementsAre(1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2));
  EXPECT_EQ(result.grains.grains.at(1).crystal, 1U);
  const OrientationMatch& match = result.matches[2].matches[0];
  double error = misorientation(match.orientation, grains[1], result.plan_of(1).proper());
  if (match.other) error = std::min(error, misorientation(*match.other, grains[1], result.plan_of(1).proper()));
  EXPECT_LT(error, 0.1 * std::numbers::pi / 180);
  EXPECT_LT(result.grains.boundary[1], 0.1);  // to its neighbour of gold only
  const Contents contents = result.contents("");
  EXPECT_EQ(contents.find("orientation/phase_score")->values.shape(), (Shape{3, 4, 2}));
  EXPECT_EQ((contents.find("grains/phase")->values.view<std::int32_t, 1>()(1)), 1);
  EXPECT_THAT(result.ang(), HasSubstr("# Phase 2\n"));
  EXPECT_THAT(result.lines(), ::testing::Contains(HasSubstr("50.0 %, not decided 0.0 %")));
  EXPECT_EQ(error_of(ErrorKind::usage,
                     [&] { (void)make_orient(both, std::vector(9, gold()), {}, sonde::testing::plenty()); }),
            "error: 9 crystals; expected 1 to 8\nhint: repeat --crystal for each of them");
}

// Of disks a tenth of a pixel off the errors are as large as their standard errors say: within a factor of two for 12
// positions of which each is known to a third.
TEST(OrientResult, StatesStandardErrorsOfRefinedOrientations) {
  BraggVectors vectors = two_grains();
  Random random(13);
  for (std::size_t i = 0; i < vectors.qx.size(); ++i) {
    vectors.qx[i] += static_cast<float>(0.1 * random.normal());
    vectors.qy[i] += static_cast<float>(0.1 * random.normal());
  }
  const OrientResult result = make_orient(vectors, gold(), {}, sonde::testing::plenty());
  double square = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    const double error =
        misorientation(result.matches[i].matches[0].orientation, grains[i % 4 / 2], result.plan.proper());
    square += error * error / 12;
  }
  const double stated = result.misorientation_error(), rms = std::sqrt(square) * 180 / std::numbers::pi;
  EXPECT_GT(rms, stated / 2);
  EXPECT_LT(rms, stated * 2);
  EXPECT_THAT(result.lines(), ::testing::Contains(HasSubstr("refined   standard error 0.0")));
  const Contents contents = result.contents("sonde stem orient");
  EXPECT_EQ(contents.find("orientation/standard_error")->values.shape(), (Shape{3, 4, 1, 3}));
  EXPECT_EQ(contents.find("orientation/misorientation_error")->unit(), "degrees");
  const auto overlap = contents.find("orientation/overlap")->values.view<float, 3>();
  EXPECT_GT(static_cast<double>(overlap(2, 3, 0)), 0.9);
}

TEST(OrientResult, WithoutRefinementOrientationsAreThoseOfThePlan) {
  OrientOptions options;
  options.match.refine = false;
  const OrientResult result = make_orient(two_grains(), gold(), options, sonde::testing::plenty());
  EXPECT_TRUE(std::isnan(result.misorientation_error()));
  EXPECT_EQ(result.contents("").find("orientation/misorientation_error"), nullptr);
  const OrientationMatch& match = result.matches[0].matches[0];
  EXPECT_LT(misorientation(match.orientation, grains[0], result.plan.proper()), 3 * std::numbers::pi / 180);
  EXPECT_GT(result.explained[0], 0.8);  // within a degree a spot at 3 sigma comes or goes
}

// Stretched by 6 % along one direction the disks of the outer rings are more than half a kernel off.
TEST(OrientResult, TheEllipseOfTheFileIsTakenOut) {
  BraggVectors vectors = two_grains();
  for (Index position = 0; position < vectors.positions(); ++position) {
    vectors.calibration.origin_x.push_back(95 + 0.3 * static_cast<double>(position % 4));
    vectors.calibration.origin_y.push_back(84 - 0.2 * static_cast<double>(position / 4));
    for (Index i = vectors.first(position); i < vectors.last(position); ++i) {
      float& x = vectors.qx[static_cast<std::size_t>(i)];
      const double origin = vectors.calibration.origin_x.back();
      x = static_cast<float>(origin + 1.06 * (x - origin));
    }
  }
  vectors.calibration.ellipse = Distortion{.a = 1.06, .b = 1, .theta = 0, .radius = 1};
  const auto explained = [](const BraggVectors& by, const char* skipped) {
    OrientOptions options;
    options.skip_calibration = skipped;
    return make_orient(by, gold(), options, sonde::testing::plenty()).explained;
  };
  const std::vector<double> undistorted = explained(two_grains(), "");
  EXPECT_EQ(explained(vectors, ""), undistorted);
  EXPECT_LT(explained(vectors, "ellipse")[0], undistorted[0] - 0.1);
}

TEST(OrientResult, NamesAWrongScaleAWrongCrystalAndAMissingVoltageFirst) {
  BraggVectors vectors = two_grains();
  const auto budget = sonde::testing::plenty();
  OrientOptions options;
  options.q_pixel = 1.25 * q_pixel;
  EXPECT_THAT(make_orient(vectors, gold(), options, budget).warnings.at(0),
              HasSubstr("a wrong size of a pixel, 0.025 1/A; with 0.020011 the disks are on the crystal's lines"));
  EXPECT_THAT(make_orient(vectors, iron(), {}, budget).warnings.at(0), HasSubstr("a wrong crystal"));
  vectors.calibration.high_tension_v.reset();
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)make_orient(vectors, gold(), {}, budget); }),
            "error: the accelerating voltage is not known\nhint: give --voltage");
}

TEST(OrientResult, TakesTheSizeOfAPixelFromTheLinesWhereTheFileLacksIt) {
  BraggVectors vectors = two_grains();
  const auto budget = sonde::testing::plenty();
  vectors.calibration.pixel_inv_a = 2 * q_pixel;
  OrientOptions options;
  options.skip_calibration = "pixel";  // as if it had none
  const OrientResult result = make_orient(vectors, gold(), options, budget);
  EXPECT_NEAR(result.q_pixel, q_pixel, 1e-3 * q_pixel);  // disks lie 0.1 % nearer than the mean excitation has them
  EXPECT_GT(result.q_pixel_error.value_or(0), 0);
  EXPECT_THAT(result.choices.at(0).because, HasSubstr("disks are on the crystal's lines"));
  EXPECT_THAT(make_orient(vectors, iron(), options, budget).warnings.at(0), HasSubstr("a wrong crystal"));
  vectors.valid.assign(vectors.valid.size(), 0);
  EXPECT_EQ(
      error_of(ErrorKind::bad_input, [&] { (void)make_orient(vectors, gold(), options, budget); }),
      "error: the reciprocal size of a detector pixel is not known: there are 0 disks beside the direct beam, and "
      "10 are needed\nhint: give --q-pixel");
}

TEST(OrientResult, PositionsWithoutDisksHaveNoOrientation) {
  BraggVectors vectors = two_grains();
  vectors.valid[5] = 0;
  vectors.intensity[1] = -1;  // of a correlation: counts as 0
  const OrientResult result = make_orient(vectors, gold(), {}, sonde::testing::plenty());
  EXPECT_TRUE(result.matches[5].matches.empty());
  EXPECT_TRUE(std::isnan(result.explained[5]));
  EXPECT_GT(result.explained[0], 0.8);
  EXPECT_THAT(result.warnings.at(0), HasSubstr("1 of 12 positions have no orientation"));
  EXPECT_EQ((result.contents("").find("orientation/valid")->values.view<std::uint8_t, 2>()(1, 1)), 0);
}

TEST(OrientResult, EulerAnglesMakeTheMatrixAgain) {
  const auto passive_z = [](double angle) { return turn_about({0, 0, 1}, -angle); };
  Random random(9);
  for (int i = 0; i < 6; ++i) {
    const Vec3 axis = normalised({random.normal(), random.normal(), random.normal()});
    const Orientation g = i == 0 ? turn_in_plane(-0.7) : turn_about(axis, 3 * random.uniform());
    const EulerAngles angles = euler_angles(g);
    const Mat3 made =
        times(passive_z(angles.phi2), times(turn_about({1, 0, 0}, -angles.capital_phi), passive_z(angles.phi1)));
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t col = 0; col < 3; ++col) {
        EXPECT_NEAR(made[row][col], g[row][col], 1e-7);
        EXPECT_NEAR(orientation_of(angles)[row][col], g[row][col], 1e-7);
      }
  }
}

TEST(OrientResult, AngFilesHaveARowForEachPosition) {
  const OrientResult result = make_orient(two_grains(), gold(), {}, sonde::testing::plenty());
  const std::string text = result.ang();
  EXPECT_THAT(text, HasSubstr("# Symmetry              43\n"));
  EXPECT_THAT(text, HasSubstr("# NCOLS_ODD: 4\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12 + 13);
  EXPECT_THAT(text, HasSubstr("  3.000000  2.000000  "));
}

TEST(ZoneSector, ColoursItsCornersRedGreenAndBlue) {
  for (const Crystal& crystal : {gold(), magnesium()}) {
    const PointGroup group = find_point_group(crystal, list_reflections(crystal, 1));
    const ZoneSector sector(crystal, group);
    ASSERT_TRUE(sector.corners());
    EXPECT_EQ(sector.colour((*sector.corners())[0].direction), (Colour{255, 0, 0}));
    EXPECT_EQ(sector.colour((*sector.corners())[1].direction), (Colour{0, 255, 0}));
    EXPECT_EQ(sector.colour((*sector.corners())[2].direction), (Colour{0, 0, 255}));
    EXPECT_EQ((*sector.corners())[0].zone, (Miller{0, 0, 1}));
    const Vec3 direction = normalised({0.2, -0.5, 0.4});
    for (const Mat3& turn : group.cartesian) EXPECT_EQ(sector.colour(times(turn, direction)), sector.colour(direction));
  }
  const Crystal triclinic =
      make_crystal("test", {4, 4.5, 5, 83, 97, 101}, {{.atomic_number = 79}}, {parse_operation("x,y,z", "test")});
  const ZoneSector sector(triclinic, find_point_group(triclinic, list_reflections(triclinic, 1)));
  EXPECT_FALSE(sector.corners());
  EXPECT_EQ(sector.colour({0, 0, -1}), (Colour{0, 0, 255}));
}

}  // namespace
}  // namespace sonde::stem
