// SPDX-License-Identifier: Apache-2.0
// From frames of a crystal that was deformed by a known F to strain, beside the strain of their disks.
#include "sonde/instruments/stem/spectra/cepstral_strain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/simulate/disk_lattice.h"
#include "sonde/instruments/stem/spectra/test_lattices.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using stem::testing::loaded;
using ::testing::HasSubstr;

/// No symmetry between the axes anywhere: an exchange or a sign would show.
struct StrainedScan {
  DiskScan scan{.scan_rows = 6,
                .scan_cols = 10,
                .undeformed = {13, 1.5, -2, 15},
                .field = StrainField::step,
                .deformation = {.e_xx = 0.03, .e_yy = -0.02, .e_xy = 0.012, .theta = 0.025},
                .orders = 3,
                .falloff = 40,
                .excitation = 0.3};
  Optics optics = [] {
    Optics made;
    made.rows = 84;
    made.cols = 96;
    made.dose = 1e5;
    made.centre_row = 40.3;
    made.centre_col = 49.1;
    made.disk_radius = 3;
    made.edge_width = 0.5;
    made.halo_length = 12;
    return made;
  }();

  [[nodiscard]] Dataset drawn(std::uint64_t seed) const {
    const DiskPatterns patterns(optics, scan);
    std::vector<double> rates(static_cast<std::size_t>(optics.rows * optics.cols));
    std::vector<std::uint32_t> counts(rates.size());
    std::vector<std::uint16_t> frames;
    for (Index row = 0; row < scan.scan_rows; ++row)
      for (Index col = 0; col < scan.scan_cols; ++col) {
        patterns.rates(row, col, {}, rates);
        draw_poisson({.seed = seed, .stream = static_cast<std::uint64_t>(row * scan.scan_cols + col)}, rates, counts);
        for (const std::uint32_t count : counts) frames.push_back(static_cast<std::uint16_t>(count));
      }
    return loaded<std::uint16_t>(scan.scan_rows, scan.scan_cols, optics.rows, optics.cols, std::move(frames));
  }
};

Budget enough_for_strain() { return Budget(std::size_t{1} << 28, "test"); }

Strain mean_over(const StrainResult& result, Index first, Index last) {
  Strain sum;
  for (Index row = 0; row < result.scan_rows; ++row)
    for (Index col = first; col < last; ++col) {
      const Strain& one = result.strain[static_cast<std::size_t>(row * result.scan_cols + col)];
      for (double Strain::*part : {&Strain::xx, &Strain::yy, &Strain::xy, &Strain::theta}) sum.*part += one.*part;
    }
  const auto n = static_cast<double>(result.scan_rows * (last - first));
  return {sum.xx / n, sum.yy / n, sum.xy / n, sum.theta / n};
}

/// Disks pull a peak by a share of its distance from the middle, which changes with the distance: 5 % of a strain here.
constexpr double pulled = 0.05;

void expect_deformation(const StrainResult& result, const Strain& truth, Index first, Index last) {
  const Strain mean = mean_over(result, first, last), sigma = result.median_sigma();
  const double n = static_cast<double>(result.scan_rows * (last - first));
  const double largest = std::max({std::abs(truth.xx), std::abs(truth.yy), std::abs(truth.xy)});
  for (double Strain::*part : {&Strain::xx, &Strain::yy, &Strain::xy, &Strain::theta})
    // Four standard errors of the mean and of the reference, which is of as many positions or more.
    EXPECT_NEAR(mean.*part, truth.*part, pulled * largest + 4 * sigma.*part * std::sqrt(3 / n));
  for (Index row = 0; row < result.scan_rows; ++row)
    for (Index col = first; col < last; ++col) {
      const auto here = static_cast<std::size_t>(row * result.scan_cols + col);
      // One of 200 values is beyond four sigma with a probability of 1 %; intensities are uniform, not normal.
      EXPECT_NEAR(result.strain[here].xx, truth.xx, pulled * largest + 5 * result.sigma[here].xx);
      EXPECT_NEAR(result.strain[here].xy, truth.xy, pulled * largest + 5 * result.sigma[here].xy);
    }
}

TEST(CepstralStrain, ADeformedHalfHasItsDeformation) {
  const StrainedScan film;
  const Dataset dataset = film.drawn(3);
  StrainOptions options;
  options.reference_region = "0,6,0,6";
  const StrainResult result = make_cepstral_strain(dataset, options, enough_for_strain());
  EXPECT_EQ(result.fitted(), 60);
  expect_deformation(result, {0.03, -0.02, 0.012, 0.025}, 6, 10);
  expect_deformation(result, {}, 0, 6);
  EXPECT_STREQ(result.frame.name(), "detector");
  // The same lattice as that of the disks, in px.
  EXPECT_NEAR(result.reference.g1_x, 13, 0.3);
  EXPECT_NEAR(result.reference.g1_y, 1.5, 0.3);
  EXPECT_NEAR(result.reference.g2_x, -2, 0.3);
  EXPECT_NEAR(result.reference.g2_y, 15, 0.3);
}

TEST(CepstralStrain, AgreesWithTheStrainOfDisks) {
  const StrainedScan film;
  const Dataset dataset = film.drawn(4);
  StrainOptions options;
  options.reference_region = "0,6,0,6";
  const StrainResult cepstral = make_cepstral_strain(dataset, options, enough_for_strain());
  const BraggResult bragg = make_bragg(dataset, find_probe(dataset, {}), {}, enough_for_strain());
  const StrainResult of_disks = make_strain(bragg.vectors, options, enough_for_strain());
  const Strain disks = mean_over(of_disks, 6, 10);
  ASSERT_TRUE(std::isfinite(disks.xx));
  expect_deformation(cepstral, disks, 6, 10);
}

TEST(CepstralStrain, AUniformGradientIsFollowed) {
  StrainedScan film;
  film.scan.field = StrainField::gradient;
  const Dataset dataset = film.drawn(5);
  const StrainResult result = make_cepstral_strain(dataset, {}, enough_for_strain());
  const DiskPatterns patterns(film.optics, film.scan);
  // Against the mean over the scan, from -1/2 to +1/2 of the deformation along the columns.
  for (const auto& [first, last] : {std::pair<Index, Index>{0, 1}, {3, 4}, {9, 10}}) {
    const Deformation truth = patterns.deformation(0, first);
    expect_deformation(result, {truth.e_xx, truth.e_yy, truth.e_xy, truth.theta}, first, last);
  }
}

TEST(CepstralStrain, IsAlongTheAxesOfTheScan) {
  StrainedScan film;
  film.scan.rotation = 0.6;
  film.scan.transpose = true;
  const Dataset dataset = film.drawn(6);
  StrainOptions options;
  options.reference_region = "0,6,0,6";
  options.rotation = 0.6 * 180 / std::acos(-1.0);
  options.transpose = "1";
  const StrainResult result = make_cepstral_strain(dataset, options, enough_for_strain());
  EXPECT_STREQ(result.frame.name(), "scan");
  expect_deformation(result, {0.03, -0.02, 0.012, 0.025}, 6, 10);
  EXPECT_TRUE(result.warnings.empty() || !result.warnings.back().starts_with("the rotation"));
}

TEST(CepstralStrain, SaysWhatItIsOf) {
  const StrainedScan film;
  const Dataset dataset = film.drawn(7);
  StrainOptions options;
  options.basis = "13,1.5,-2,15";
  const StrainResult result = make_cepstral_strain(dataset, options, enough_for_strain());
  EXPECT_EQ(result.fitted(), 60);
  EXPECT_THAT(result.lines()[0], HasSubstr("(given)"));
  EXPECT_THAT(result.lines()[1], ::testing::Not(HasSubstr("residual")));
  EXPECT_THAT(result.warnings.back(), HasSubstr("the rotation from detector to scan is not known"));
  EXPECT_NE(result.contents("c").find("strain/sigma_exx"), nullptr);
}

TEST(CepstralStrain, PatternsWithoutALatticeHaveNoStrain) {
  std::vector<std::uint16_t> frames;
  for (int position = 0; position < 4; ++position)
    for (Index row = 0; row < 30; ++row)
      for (Index col = 0; col < 36; ++col)
        frames.push_back(static_cast<std::uint16_t>(
            200 * std::exp(-std::hypot(static_cast<double>(row) - 15, static_cast<double>(col) - 17) / 6)));
  const Dataset dataset = loaded<std::uint16_t>(2, 2, 30, 36, frames);
  const StrainResult result = make_cepstral_strain(dataset, {}, enough_for_strain());
  EXPECT_TRUE(result.failed());
  EXPECT_THAT(result.warnings.front(), HasSubstr("no lattice: the mean cepstrum has no two peaks"));
  EXPECT_TRUE(std::isnan(result.strain[0].xx));
}

}  // namespace
}  // namespace sonde::stem
