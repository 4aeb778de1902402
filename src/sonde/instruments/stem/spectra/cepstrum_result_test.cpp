// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/spectra/cepstrum_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sonde/instruments/stem/spectra/test_lattices.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::loaded;
using stem::testing::SpotLattice;
using ::testing::HasSubstr;

Budget enough_for_cepstra() { return Budget(std::size_t{1} << 28, "test"); }

template <class T>
std::vector<T> frames_of(const SpotLattice& lattice, Index positions, double height) {
  std::vector<T> frames;
  for (Index position = 0; position < positions; ++position)
    for (const double value : lattice.drawn()) frames.push_back(static_cast<T>(height * value + 0.5));
  return frames;
}

/// Columns of spots 8 px apart and rows of them 5 px apart.
SpotLattice upright() { return {.rows = 40, .cols = 56, .basis = {8, 0, 0, 5}, .q0_x = 27.3, .q0_y = 19.1}; }

TEST(Cepstrum, PeaksAreAtTheInverseOfTheSpacingAlongEachAxis) {
  const Dataset dataset = loaded<std::uint16_t>(2, 3, 40, 56, frames_of<std::uint16_t>(upright(), 6, 200));
  const CepstrumResult result = make_cepstrum(dataset, {}, enough_for_cepstra());
  ASSERT_TRUE(result.search);
  EXPECT_EQ(result.found(), 6);
  // Points of the mean: 56 / 8 from the middle along the columns, 40 / 5 along the rows.
  const auto at = [&](Index row, Index col) { return result.mean[static_cast<std::size_t>(row * 56 + col)]; };
  for (const Index step : {-2, -1, 1, 2}) {
    EXPECT_LT(at(20, 28 + 7 + step), 0.7 * at(20, 28 + 7)) << step;
    EXPECT_LT(at(20 + 8 + step, 28), 0.7 * at(20 + 8, 28)) << step;
  }
  for (const MeasuredPair& one : result.pairs) {
    // The transform of a spot of 1 px pulls by 1e-4 of a cycle.
    EXPECT_NEAR(one.pair.a1_x, 1.0 / 8, 3e-4);
    EXPECT_NEAR(one.pair.a1_y, 0, 3e-4);
    EXPECT_NEAR(one.pair.a2_x, 0, 3e-4);
    EXPECT_NEAR(one.pair.a2_y, 1.0 / 5, 3e-4);
  }
}

TEST(Cepstrum, VectorsOfAnObliqueLatticeAreItsInverseTransposed) {
  // No symmetry between the axes: an exchange or a sign would show.
  const SpotLattice lattice{.rows = 60, .cols = 44, .basis = {7, 1.5, -2, 6}, .q0_x = 20.4, .q0_y = 31.7};
  const Dataset dataset = loaded<std::uint16_t>(1, 2, 60, 44, frames_of<std::uint16_t>(lattice, 2, 300));
  const CepstrumResult result = make_cepstrum(dataset, {}, enough_for_cepstra());
  ASSERT_EQ(result.found(), 2);
  const SpectralPair& pair = result.pairs[1].pair;
  // Whatever pair of the lattice was chosen: products with the lattice of the pattern are whole numbers.
  for (const auto& [x, y] : {std::pair(pair.a1_x, pair.a1_y), std::pair(pair.a2_x, pair.a2_y)})
    for (const auto& [gx, gy] : {std::pair(7.0, 1.5), std::pair(-2.0, 6.0)}) {
      const double product = x * gx + y * gy;
      EXPECT_NEAR(product, std::round(product), 5e-3);
    }
  EXPECT_NEAR(std::abs(pair.a1_x * pair.a2_y - pair.a1_y * pair.a2_x), 1 / lattice.basis.area(), 2e-4);
  CepstrumOptions given;
  given.basis = "7,1.5,-2,6";
  const CepstrumResult near = make_cepstrum(dataset, given, enough_for_cepstra());
  ASSERT_EQ(near.found(), 2);
  EXPECT_NEAR(near.pairs[0].pair.a1_x, 6.0 / 45, 4e-4);
  EXPECT_NEAR(near.pairs[0].pair.a1_y, 2.0 / 45, 4e-4);
  EXPECT_NEAR(near.pairs[0].pair.a2_x, -1.5 / 45, 4e-4);
  EXPECT_NEAR(near.pairs[0].pair.a2_y, 7.0 / 45, 4e-4);
}

TEST(Cepstrum, LengthsAreInAngstromWhereAPixelIsKnown) {
  Calibration calibration;
  calibration.detector_step_inv_a = Quantity{0.05, StatedBy::user};
  const Dataset dataset = loaded<std::uint16_t>(1, 2, 40, 56, frames_of<std::uint16_t>(upright(), 2, 200), calibration);
  const CepstrumResult result = make_cepstrum(dataset, {}, enough_for_cepstra());
  const Contents contents = result.contents("the command");
  const Contents::Variable* x = contents.find("cepstrum/a1_x");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->unit(), "A");
  EXPECT_EQ(x->values.shape(), (Shape{1, 2}));
  // Spots 8 px of 0.05 / A apart: planes of 2.5 A.
  EXPECT_NEAR(static_cast<const float*>(x->values.data())[0], 2.5, 6e-3);
  EXPECT_EQ(contents.find("y")->unit(), "A");
  EXPECT_NEAR(static_cast<const double*>(contents.find("y")->values.data())[20 + 8], 4, 1e-12);
  EXPECT_NEAR(static_cast<const double*>(contents.find("x")->values.data())[28 + 7], 2.5, 1e-12);
  CepstrumOptions skipping;
  skipping.skip_calibration = "pixel";
  const CepstrumResult bare = make_cepstrum(dataset, skipping, enough_for_cepstra());
  EXPECT_EQ(bare.contents("c").find("cepstrum/a1_x")->unit(), "1/px");
}

TEST(Cepstrum, FloatsHaveNoErrors) {
  const Dataset dataset = loaded<float>(1, 2, 40, 56, frames_of<float>(upright(), 2, 20));
  const CepstrumResult result = make_cepstrum(dataset, {}, enough_for_cepstra());
  EXPECT_EQ(result.found(), 2);
  EXPECT_EQ(result.contents("c").find("cepstrum/sigma_a1_x"), nullptr);
  const Dataset counted = loaded<std::uint16_t>(1, 2, 40, 56, frames_of<std::uint16_t>(upright(), 2, 20));
  const Contents contents = make_cepstrum(counted, {}, enough_for_cepstra()).contents("c");
  ASSERT_NE(contents.find("cepstrum/sigma_a1_x"), nullptr);
  EXPECT_GT(static_cast<const float*>(contents.find("cepstrum/sigma_a1_x")->values.data())[0], 0);
}

TEST(Cepstrum, PatternsWithoutALatticeSaySo) {
  std::vector<std::uint16_t> frames;
  for (Index row = 0; row < 30; ++row)
    for (Index col = 0; col < 36; ++col)
      frames.push_back(static_cast<std::uint16_t>(
          200 * std::exp(-std::hypot(static_cast<double>(row) - 15, static_cast<double>(col) - 17) / 6)));
  const Dataset dataset = loaded<std::uint16_t>(1, 1, 30, 36, frames);
  const CepstrumResult result = make_cepstrum(dataset, {}, enough_for_cepstra());
  EXPECT_FALSE(result.search);
  EXPECT_TRUE(result.failed());
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_THAT(result.warnings[0], HasSubstr("no lattice: the mean cepstrum has no two peaks in different directions"));
  EXPECT_EQ(result.contents("c").find("cepstrum/a1_x"), nullptr);
  EXPECT_NE(result.contents("c").find("cepstrum/mean"), nullptr);
  EXPECT_EQ(result.picture().shape().rank(), 3);
}

TEST(Cepstrum, ACoarseLatticeIsNamed) {
  const SpotLattice lattice{.rows = 40, .cols = 44, .basis = {14, 0, 0, 13}, .q0_x = 20, .q0_y = 20, .width = 1.5};
  const Dataset dataset = loaded<std::uint16_t>(1, 1, 40, 44, frames_of<std::uint16_t>(lattice, 1, 300));
  CepstrumOptions options;
  options.basis = "14,0,0,13";
  const CepstrumResult result = make_cepstrum(dataset, options, enough_for_cepstra());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings[0], HasSubstr("small spacing: the nearest peak is 3.1 points from the middle"));
}

TEST(Cepstrum, TheAutocorrelationIsOfPairsOfCounts) {
  constexpr Index rows = 12, cols = 9;
  std::vector<std::uint16_t> frame;
  for (Index i = 0; i < rows * cols; ++i) frame.push_back(static_cast<std::uint16_t>((i * 37) % 11));
  const Dataset dataset = loaded<std::uint16_t>(1, 1, rows, cols, frame);
  CepstrumOptions options;
  options.kind = SpectrumKind::autocorrelation;
  options.window = PatternWindow::none;
  const CepstrumResult result = make_cepstrum(dataset, options, enough_for_cepstra());
  EXPECT_FALSE(result.failed());
  for (const auto& [dy, dx] : {std::pair<Index, Index>{0, 0}, {2, -3}, {-5, 1}}) {
    double sum = 0;
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < cols; ++c)
        sum += static_cast<double>(frame[static_cast<std::size_t>(r * cols + c)]) *
               static_cast<double>(
                   frame[static_cast<std::size_t>(((r + dy + rows) % rows) * cols + (c + dx + cols) % cols)]);
    // Rounding of the float32 transform.
    EXPECT_NEAR(result.mean[static_cast<std::size_t>((6 + dy) * cols + 4 + dx)], sum, 1e-5 * sum);
  }
  const Contents contents = result.contents("c");
  ASSERT_NE(contents.find("autocorrelation/mean"), nullptr);
  EXPECT_EQ(contents.find("autocorrelation/mean")->unit(), "counts^2");
  EXPECT_EQ(contents.find("x")->unit(), "px");
}

TEST(Cepstrum, RefusesALatticeOnOneLine) {
  CepstrumOptions options;
  options.basis = "4,2,8,4";
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { options.check(); }),
              HasSubstr("(4, 2) and (8, 4) are along one line; expected two directions"));
  options.basis = "4,2,8";
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { options.check(); }),
              HasSubstr("expected four numbers, G1X,G1Y,G2X,G2Y"));
}

}  // namespace
}  // namespace sonde::stem
