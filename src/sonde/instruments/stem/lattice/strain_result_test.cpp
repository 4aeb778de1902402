// SPDX-License-Identifier: Apache-2.0
// From lists of disks of a scan to strain: drawn with known strain and noise, and with one fault each.
#include "sonde/instruments/stem/lattice/strain_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/lattice/strain_page.h"
#include "sonde/instruments/stem/lattice/strain_picture.h"
#include "sonde/instruments/stem/simulate/disk_lattice.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Budget enough() { return Budget(std::size_t{1} << 30, "test"); }

/// What is drawn: a strained crystal whose disks are off their sites by a normal error of 1 / sqrt(intensity) px.
struct Scene {
  DiskScan scan{.scan_rows = 6,
                .scan_cols = 10,
                .undeformed = {21, 2, -4, 23},
                .field = StrainField::step,
                .deformation = {.e_xx = 0.02, .e_yy = -0.015, .e_xy = 0.008, .theta = 0.03},
                .falloff = 60};
  double intensity = 0;  ///< of the direct disk; 0: no errors
  Index orders_h = 2, orders_k = 2;
};

Optics scene_optics() {
  Optics optics;
  optics.rows = 150;
  optics.cols = 170;
  optics.disk_radius = 6;
  return optics;
}

BraggVectors drawn(const Scene& scene) {
  const DiskPatterns patterns(scene_optics(), scene.scan);
  BraggVectors vectors;
  vectors.scan_rows = scene.scan.scan_rows;
  vectors.scan_cols = scene.scan.scan_cols;
  vectors.rows = 150;
  vectors.cols = 170;
  vectors.probe_radius = 6;
  vectors.offsets = {0};
  Random random(5);
  for (Index row = 0; row < vectors.scan_rows; ++row)
    for (Index col = 0; col < vectors.scan_cols; ++col) {
      const LatticeVectors g = patterns.vectors(row, col);
      const double q0_x = 84.3 + 0.05 * static_cast<double>(col), q0_y = 71.8 - 0.1 * static_cast<double>(row);
      for (Index h = -scene.orders_h; h <= scene.orders_h; ++h)
        for (Index k = -scene.orders_k; k <= scene.orders_k; ++k) {
          const double x = q0_x + static_cast<double>(h) * g.g1_x + static_cast<double>(k) * g.g2_x;
          const double y = q0_y + static_cast<double>(h) * g.g1_y + static_cast<double>(k) * g.g2_y;
          const double bright = scene.intensity > 0 ? scene.intensity : 1000;
          const double intensity = bright * (0.2 + 1.6 * random.uniform()) / static_cast<double>(1 + h * h + k * k);
          const double sigma = scene.intensity > 0 ? 1 / std::sqrt(intensity) : 0;
          vectors.qx.push_back(static_cast<float>(x + sigma * random.normal()));
          vectors.qy.push_back(static_cast<float>(y + sigma * random.normal()));
          vectors.intensity.push_back(static_cast<float>(intensity));
          vectors.var_x.push_back(static_cast<float>(1 / intensity));
          vectors.var_y.push_back(static_cast<float>(1 / intensity));
        }
      vectors.offsets.push_back(vectors.qx.size());
      vectors.valid.push_back(1);
    }
  return vectors;
}

/// The reference is the crystal itself, so that truth and result compare everywhere.
StrainOptions of_crystal() {
  StrainOptions options;
  options.reference = "21,2,-4,23";
  options.rotation = 0;
  options.transpose = "0";
  return options;
}

TEST(StrainResult, IsTheStrainOfTheCrystal) {
  Scene scene;
  scene.scan.field = StrainField::gradient;
  scene.scan.deformation = {.e_xx = 0.1, .e_yy = -0.08, .e_xy = 0.05, .theta = 0.3};
  const StrainResult result = make_strain(drawn(scene), of_crystal(), enough());
  const DiskPatterns patterns(scene_optics(), scene.scan);
  ASSERT_EQ(result.fitted(), 60);
  for (Index i = 0; i < 60; ++i) {
    const Deformation truth = patterns.deformation(i / 10, i % 10);
    const Strain& found = result.strain[static_cast<std::size_t>(i)];
    // Places are held as f32: 4e-6 px at 100 px, over a lattice of 40 px and 25 disks.
    EXPECT_NEAR(found.xx, truth.e_xx, 3e-7);
    EXPECT_NEAR(found.yy, truth.e_yy, 3e-7);
    EXPECT_NEAR(found.xy, truth.e_xy, 3e-7);
    EXPECT_NEAR(found.theta, truth.theta, 3e-7);
  }
  EXPECT_THAT(result.warnings, ::testing::IsEmpty());
}

// 32 x 40 positions with a thousand counts in the direct disk: the errors are those that are stated.
TEST(StrainResult, ScattersByItsSigma) {
  Scene scene;
  scene.scan.scan_rows = 32;
  scene.scan.scan_cols = 40;
  scene.intensity = 1000;
  const StrainResult result = make_strain(drawn(scene), of_crystal(), enough());
  const DiskPatterns patterns(scene_optics(), scene.scan);
  ASSERT_EQ(result.fitted(), 1280);
  const std::pair<double Strain::*, double Deformation::*> components[] = {{&Strain::xx, &Deformation::e_xx},
                                                                           {&Strain::yy, &Deformation::e_yy},
                                                                           {&Strain::xy, &Deformation::e_xy},
                                                                           {&Strain::theta, &Deformation::theta}};
  for (const auto& [component, truth] : components) {
    double sum = 0, square = 0;
    for (Index i = 0; i < 1280; ++i) {
      const auto here = static_cast<std::size_t>(i);
      const double pull = (result.strain[here].*component - patterns.deformation(i / 40, i % 40).*truth) /
                          (result.sigma[here].*component);
      sum += pull / 1280;
      square += pull * pull / 1280;
    }
    // By chance 0.028 for the mean and 0.02 for the standard deviation.
    EXPECT_NEAR(sum, 0, 0.11);
    EXPECT_GT(std::sqrt(square), 0.9);
    EXPECT_LT(std::sqrt(square), 1.1);
    EXPECT_NEAR(result.scatter.*component, 1, 0.12);
  }
  EXPECT_NEAR(result.over_sigma, 1, 0.02);
}

TEST(StrainResult, TheReferenceIsTheMedianOfTheUnstrainedPositions) {
  Scene scene;
  scene.intensity = 3000;
  StrainOptions options = of_crystal();
  options.reference = "median";
  options.reference_region = "0,6,0,5";
  const StrainResult result = make_strain(drawn(scene), options, enough());
  EXPECT_EQ(result.reference_positions, 30);
  const Basis in_same_sense = reduced(result.reference);
  EXPECT_NEAR(std::abs(in_same_sense.area()), 21 * 23 + 8, 0.5);
  EXPECT_GT(result.reference_sigma.xx, 0);
  EXPECT_LT(result.reference_sigma.xx, result.median_sigma().xx / 2);  // of 30 positions
  EXPECT_NEAR(result.strain[57].xx, 0.02, 5 * result.sigma[57].xx);
}

TEST(StrainResult, RotatedDetectorsShowTheSameStrainAlongTheScan) {
  Scene scene;
  scene.scan.rotation = 0.7;
  scene.scan.transpose = true;
  BraggVectors vectors = drawn(scene);
  StrainOptions options = of_crystal();
  options.rotation.reset();
  options.transpose = "auto";
  vectors.calibration.rotation_rad = 0.7;
  vectors.calibration.transpose = true;
  const StrainResult result = make_strain(vectors, options, enough());
  EXPECT_NEAR(result.strain[8].xx, 0.02, 3e-7);
  EXPECT_NEAR(result.strain[8].theta, 0.03, 3e-7);
  EXPECT_STREQ(result.frame.name(), "scan");
  EXPECT_THAT(result.warnings, ::testing::IsEmpty());
}

/// Disks stretched along their semi-axes, about the origin of their pattern.
BraggVectors stretched(BraggVectors vectors, const Distortion& by) {
  const double c = std::cos(by.theta), s = std::sin(by.theta);
  for (Index position = 0; position < vectors.positions(); ++position) {
    const double q0_x = 84.3 + 0.05 * static_cast<double>(position % vectors.scan_cols);
    const double q0_y = 71.8 - 0.1 * static_cast<double>(position / vectors.scan_cols);
    vectors.calibration.origin_x.push_back(q0_x);
    vectors.calibration.origin_y.push_back(q0_y);
    for (auto i = static_cast<std::size_t>(vectors.first(position));
         i < static_cast<std::size_t>(vectors.last(position)); ++i) {
      const double x = vectors.qx[i] - q0_x, y = vectors.qy[i] - q0_y;
      const double along = by.a * (c * x + s * y), across = by.b * (c * y - s * x);
      vectors.qx[i] = static_cast<float>(q0_x + c * along - s * across);
      vectors.qy[i] = static_cast<float>(q0_y + s * along + c * across);
    }
  }
  vectors.calibration.ellipse = by;
  return vectors;
}

TEST(StrainResult, TheEllipseOfTheFileIsTakenOutUnlessItIsSkipped) {
  const Distortion lens{.a = 1.04, .b = 0.98, .theta = 0.4, .radius = 1};
  const StrainResult expected = make_strain(drawn({}), of_crystal(), enough());
  const BraggVectors distorted = stretched(drawn({}), lens);
  const StrainResult result = make_strain(distorted, of_crystal(), enough());
  ASSERT_EQ(result.fitted(), 60);
  EXPECT_TRUE(result.origin_stated);
  for (std::size_t i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    EXPECT_NEAR(result.strain[i].xx, expected.strain[i].xx, 1e-5);  // places are single precision
    EXPECT_NEAR(result.strain[i].yy, expected.strain[i].yy, 1e-5);
    EXPECT_NEAR(result.strain[i].xy, expected.strain[i].xy, 1e-5);
  }
  StrainOptions skipping = of_crystal();
  skipping.skip_calibration = "ellipse";
  const StrainResult uncorrected = make_strain(distorted, skipping, enough());
  // Reciprocal vectors stretched by 1.04 along an axis look like a crystal compressed along it.
  EXPECT_LT(uncorrected.strain[0].xx - expected.strain[0].xx, -0.01);
}

TEST(StrainResult, StepsOfTheCalibrationAreSkippedOneByOne) {
  BraggVectors vectors = stretched(drawn({}), {.a = 1, .b = 1, .theta = 0, .radius = 1});
  vectors.calibration.rotation_rad = 0.5;
  vectors.calibration.transpose = true;
  const auto with = [&](const char* skipped) {
    StrainOptions options = of_crystal();
    options.rotation.reset();
    options.transpose = "auto";
    options.skip_calibration = skipped;
    return make_strain(vectors, options, enough());
  };
  EXPECT_EQ(with("").frame.rotation, 0.5);
  EXPECT_TRUE(with("").frame.transpose);
  EXPECT_FALSE(with("transpose").frame.transpose);
  EXPECT_FALSE(with("rotation").frame.scan);
  EXPECT_TRUE(with("rotation").origin_stated);
  EXPECT_FALSE(with("origin, rotation").origin_stated);
  StrainOptions wrong;
  wrong.skip_calibration = "elipse";
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { wrong.check(); }),
              HasSubstr("\"elipse\"; expected some of origin, ellipse, pixel, transpose, rotation"));
}

TEST(StrainResult, AnUnknownRotationIsSaidAndTheAxesAreTheDetectors) {
  StrainOptions options = of_crystal();
  options.rotation.reset();
  const StrainResult result = make_strain(drawn({}), options, enough());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings.front(), StartsWith("the rotation from detector to scan is not known"));
  const Contents contents = result.contents("sonde stem strain");
  std::string frame;
  for (const auto& [name, value] : contents.find("strain/e_xx")->attributes)
    if (name == "frame") frame = std::get<std::string>(value);
  EXPECT_EQ(frame, "detector");
}

TEST(StrainResult, ThePageSaysWhoseAxesTheMapsAreAlong) {
  StrainOptions options = of_crystal();
  const auto first_title = [&] {
    auto contents = std::make_shared<const Contents>(make_strain(drawn({}), options, enough()).contents(""));
    return arrange_strain(panel::StoredResult::of(std::move(contents), "strain.h5").value()).front().title;
  };
  EXPECT_EQ(first_title(), "e_xx, axes of the scan");
  options.rotation.reset();
  EXPECT_EQ(first_title(), "e_xx, axes of the detector");
}

TEST(StrainResult, OneDiskIsNamedFirst) {
  Scene scene;
  scene.orders_h = scene.orders_k = 0;
  const StrainResult result = make_strain(drawn(scene), {}, enough());
  EXPECT_THAT(result.warnings.front(), StartsWith("one disk: the patterns have 1 of them"));
  EXPECT_TRUE(result.failed());
  EXPECT_TRUE(std::isnan(result.strain[0].xx));
  EXPECT_EQ(result.outcomes[static_cast<std::size_t>(FitOutcome::few_disks)], 60);
}

TEST(StrainResult, ACollinearLatticeIsNamedFirst) {
  Scene scene;
  scene.orders_k = 0;
  const StrainResult found = make_strain(drawn(scene), {}, enough());
  EXPECT_THAT(found.warnings.front(), StartsWith("collinear lattice: the 4 maxima of the map of disks"));
  EXPECT_EQ(found.outcomes[static_cast<std::size_t>(FitOutcome::collinear)], 60);
  StrainOptions given = of_crystal();
  given.basis = "21,2,-4,23";
  const StrainResult result = make_strain(drawn(scene), given, enough());
  EXPECT_THAT(result.warnings.front(), StartsWith("collinear lattice: 100 % of the patterns have no lattice"));
  EXPECT_THAT(result.lines().back(),
              HasSubstr("none of 60 has a lattice (60 the disks on the lattice are on one line)"));
}

TEST(StrainResult, OverlappingDisksAreNamedFirst) {
  BraggVectors vectors = drawn({});
  vectors.probe_radius = 12;
  const StrainResult result = make_strain(vectors, of_crystal(), enough());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings.front(), StartsWith("overlapping disks: they are 24.0 px wide and 2"));
}

TEST(StrainResult, DisksFartherOffThanTheirVariancesAreNamed) {
  Scene scene;
  scene.scan.scan_cols = 200;
  scene.intensity = 500;
  BraggVectors vectors = drawn(scene);
  for (std::vector<float>* variances : {&vectors.var_x, &vectors.var_y})
    for (float& variance : *variances) variance /= 16;
  const StrainResult result = make_strain(vectors, of_crystal(), enough());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings.front(), StartsWith("disks are 4.0 times as far from the lattice"));
  vectors.probe_radius = 8;
  EXPECT_THAT(make_strain(vectors, of_crystal(), enough()).warnings.front(),
              StartsWith("close disks: they are 21.0 px apart and 16.0 px wide"));
}

TEST(StrainResult, PositionsWithoutPatternsAreNotCountedAsFailures) {
  BraggVectors vectors = drawn({});
  vectors.valid[7] = 0;
  const StrainResult result = make_strain(vectors, of_crystal(), enough());
  EXPECT_EQ(result.fitted(), 59);
  EXPECT_EQ(result.invalid_share(), 0);
  EXPECT_TRUE(std::isnan(result.strain[7].yy));
  const Contents contents = result.contents("");
  EXPECT_EQ((contents.find("strain/valid")->values.view<std::uint8_t, 2>()(0, 7)), 0);
  EXPECT_EQ((contents.find("strain/n_peaks")->values.view<std::int32_t, 2>()(0, 8)), 25);
}

TEST(StrainResult, WeightsFromVariancesNeedThem) {
  BraggVectors vectors = drawn({});
  StrainOptions options = of_crystal();
  options.weights = PeakWeight::variance;
  vectors.var_x[0] = 0;  // one that is not known: left out
  EXPECT_EQ(make_strain(vectors, options, enough()).fits[0].peaks, 24);
  vectors.var_x.clear();
  vectors.var_y.clear();
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { (void)make_strain(vectors, options, enough()); }),
              HasSubstr("the disks have no variances"));
}

TEST(StrainResult, RegionsOfTheReferenceAreOnTheScan) {
  StrainOptions options;
  options.reference_region = "0,6,8,12";
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { (void)make_strain(drawn({}), options, enough()); }),
              HasSubstr("the region of the reference ends at row 6, column 12 of a scan of 6 x 10 positions"));
  options.reference_region = "3,3,0,5";
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { options.check(); }), HasSubstr("\"3,3,0,5\" has no positions"));
  options.reference_region = "0,3,0,5";
  options.reference = "1,0,0,1";
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { options.check(); }),
              HasSubstr("no positions are chosen for it"));
}

TEST(StrainResult, VectorsOfOptionsAreFourNumbersInTwoDirections) {
  StrainOptions options;
  options.basis = "1,2,3";
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { options.check(); }),
              HasSubstr("\"1,2,3\"; expected four numbers, G1X,G1Y,G2X,G2Y"));
  options.basis = "10,5,20,10";
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { options.check(); }), HasSubstr("are along one line"));
}

TEST(StrainPicture, HasFourMapsAndTheAxes) {
  BraggVectors vectors = drawn({});
  vectors.valid[7] = 0;
  const Array picture = strain_picture(make_strain(vectors, of_crystal(), enough()));
  EXPECT_EQ(picture.shape()[2], 3);
  EXPECT_GT(picture.shape()[0], 2 * 6 * 48 + 84);  // positions of 48 px, two maps high, and arrows of 84 px
  EXPECT_GT(picture.shape()[1], 2 * 10 * 48);
  Scene one;
  one.orders_h = one.orders_k = 0;
  EXPECT_GT(strain_picture(make_strain(drawn(one), {}, enough())).count(), 0);  // without any strain
}

TEST(StrainResult, ASingleRowHasAConstantOrigin) {
  Scene scene;
  scene.scan.scan_rows = 1;
  const StrainResult result = make_strain(drawn(scene), of_crystal(), enough());
  EXPECT_EQ(result.fitted(), 10);
  EXPECT_EQ(result.origin_fit, OriginFit::mean);
}

}  // namespace
}  // namespace sonde::stem
