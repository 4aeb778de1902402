// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/q_pixel_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/orient/test_crystals.h"
#include "sonde/instruments/stem/orient/zone_axes.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

constexpr double true_size = 0.0137;  // 1/A
const KinematicBeam beam_200{.wavelength = 0.0250793};

/// Disks of grains of random orientation with errors of 0.1 px.
BraggVectors random_grains(const Crystal& crystal, Index rows, Index cols, std::uint64_t seed) {
  const std::vector<Reflection> reflections = list_reflections(crystal, 1.3);
  Random random(seed);
  BraggVectors vectors;
  vectors.scan_rows = rows;
  vectors.scan_cols = cols;
  vectors.rows = 230;
  vectors.cols = 210;
  vectors.probe_radius = 4;
  vectors.offsets = {0};
  for (Index position = 0; position < vectors.positions(); ++position) {
    const auto add = [&](double qx, double qy, double intensity) {
      vectors.qx.push_back(static_cast<float>(104 + qx / true_size + 0.1 * random.normal()));
      vectors.qy.push_back(static_cast<float>(115 + qy / true_size + 0.1 * random.normal()));
      vectors.intensity.push_back(static_cast<float>(intensity));
    };
    const Vec3 axis = normalised({random.normal(), random.normal(), random.normal()});
    const Orientation turn = turn_about(axis, 3 * random.uniform());
    add(0, 0, 10);
    for (const KinematicSpot& spot : kinematic_pattern(reflections, turn, beam_200))
      if (spot.intensity > 1e-3) add(spot.x, spot.y, spot.intensity);
    vectors.offsets.push_back(vectors.qx.size());
    vectors.valid.push_back(1);
  }
  return vectors;
}

QPixelFit fit_of(const BraggVectors& vectors, const Crystal& crystal) {
  return fit_q_pixel(vectors, find_origins(vectors, OriginChoice::nearest, OriginFit::mean), crystal, beam_200);
}

TEST(QPixelFit, FindsTheSizeOfAPixelFromTheLinesOfTheCrystal) {
  for (const Crystal& crystal : {gold(), iron(), silicon(), magnesium()}) {
    const QPixelFit fit = fit_of(random_grains(crystal, 6, 5, 1), crystal);
    EXPECT_EQ(fit.refused, "");
    EXPECT_NEAR(fit.value, true_size, 4 * fit.standard_error);
    EXPECT_LT(fit.standard_error, 5e-4 * true_size);
    EXPECT_LT(fit.missing, 0.2);
  }
}

TEST(QPixelFit, RefusesWhatIsAmbiguousAndSaysWhatIsMissing) {
  const BraggVectors of_gold = random_grains(gold(), 6, 5, 1);
  EXPECT_THAT(fit_of(of_gold, iron()).refused, HasSubstr("0.027552 and 0.013783 1/A put the disks on lines"));
  EXPECT_THAT(fit_of(of_gold, silicon()).refused, HasSubstr("of the disks on lines of test.cif: another crystal"));
  // All lines of a body-centred lattice are lines of a face-centred one, which has others.
  const QPixelFit of_iron = fit_of(random_grains(iron(), 6, 5, 1), gold());
  EXPECT_EQ(of_iron.refused, "");
  EXPECT_GT(of_iron.missing, 0.3);
  BraggVectors few = random_grains(gold(), 1, 1, 1);
  few.valid[0] = 0;
  EXPECT_THAT(fit_of(few, gold()).refused, HasSubstr("there are 0 disks beside the direct beam"));
}

}  // namespace
}  // namespace sonde::stem
