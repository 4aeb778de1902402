// SPDX-License-Identifier: Apache-2.0
// Halves of the counts say of drawn crystals what their known places say.
#include "sonde/instruments/stem/dose/dose_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/dose/test_study.h"
#include "sonde/instruments/stem/lattice/strain_result.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::known_disks;
using stem::testing::KnownDisk;
using stem::testing::StudiedCrystal;
using stem::testing::study_cols;
using stem::testing::study_height;
using stem::testing::study_options;
using stem::testing::study_radius;
using stem::testing::study_rows;
using stem::testing::study_width;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Budget quarter_gigabyte() { return {std::size_t{1} << 28, "test"}; }

DoseReport report_of(const Dataset& dataset, const BraggOptions& options, Index patterns = study_rows * study_cols) {
  return report_dose(dataset, find_probe(dataset, options), options, patterns, quarter_gigabyte());
}

BraggOptions options_with(KernelShape kernel) {
  BraggOptions options = study_options();
  options.kernel = kernel;
  return options;
}

/// What the known places say of the disks found.
struct Truth {
  double over_bound = 0;  ///< rms error along an axis over the bound
  double bound = 0;       ///< median, px
};

Truth truth_of(const StudiedCrystal& crystal, const BraggVectors& found) {
  double squares = 0, numbers = 0;
  std::vector<double> bounds;
  for (const KnownDisk& disk : known_disks(crystal)) {
    bounds.push_back(std::sqrt(0.5 / disk.of_y + 0.5 / disk.of_x));
    for (auto at = static_cast<std::size_t>(found.first(disk.position));
         at < static_cast<std::size_t>(found.last(disk.position)); ++at) {
      const double dy = static_cast<double>(found.qy[at]) - disk.y, dx = static_cast<double>(found.qx[at]) - disk.x;
      if (std::hypot(dy, dx) > 2) continue;
      squares += dy * dy * disk.of_y + dx * dx * disk.of_x;
      numbers += 2;
    }
  }
  std::nth_element(bounds.begin(), bounds.begin() + static_cast<std::ptrdiff_t>(bounds.size() / 2), bounds.end());
  return {std::sqrt(squares / numbers), bounds[bounds.size() / 2]};
}

BraggVectors disks_of(const Dataset& dataset, const BraggOptions& options) {
  return make_bragg(dataset, find_probe(dataset, options), options, quarter_gigabyte()).vectors;
}

struct DoseCase {
  std::string name;
  KernelShape kernel;
  double counts;
};

class DoseReportOfKnownPlaces : public ::testing::TestWithParam<DoseCase> {};

// 25 disks in 24 patterns, two numbers each: the scatter of the halves and the errors, which are independent (one is of
// the difference of two independent halves, the other of their sum), are known to 1 / sqrt(2 * 1200) = 2.0 % each, and
// their ratio to 2.9 %. The bound of the report is that of a measured profile: 3 % more.
TEST_P(DoseReportOfKnownPlaces, HalvesPredictTheErrors) {
  StudiedCrystal crystal;
  crystal.counts = GetParam().counts;
  const Dataset dataset = crystal.loaded();
  const BraggOptions options = options_with(GetParam().kernel);
  const DoseReport report = report_of(dataset, options);
  const Truth truth = truth_of(crystal, disks_of(dataset, options));
  EXPECT_EQ(report.with_lattice, 24);
  EXPECT_EQ(report.sites, 600);
  EXPECT_GE(report.disks, 598);
  EXPECT_NEAR(report.counts, crystal.counts, 0.05 * crystal.counts);
  EXPECT_NEAR(report.bound, truth.bound, 0.05 * truth.bound);
  EXPECT_NEAR(report.scatter(), truth.over_bound * truth.bound, 0.1 * truth.over_bound * truth.bound);
  EXPECT_NEAR(report.over_bound.sigma, report.over_bound.value / std::sqrt(2400), 1e-4);
  ASSERT_TRUE(report.over_stated);
  EXPECT_NEAR(report.over_stated->value, 1, 0.08);
  ASSERT_TRUE(report.noise);
  EXPECT_NEAR(report.noise->value, 1, 4 * report.noise->sigma);
  EXPECT_NEAR(report.lattice_over_bound.value, truth.over_bound, 0.1 * truth.over_bound);
  EXPECT_THAT(report.warnings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, DoseReportOfKnownPlaces,
                         ::testing::Values(DoseCase{"sigmoid", KernelShape::sigmoid, 1000},
                                           DoseCase{"ring", KernelShape::ring, 1000},
                                           DoseCase{"poisson", KernelShape::poisson, 1000},
                                           DoseCase{"ring_of_many", KernelShape::ring, 20'000},
                                           DoseCase{"poisson_of_few", KernelShape::poisson, 300}),
                         [](const auto& each) { return each.param.name; });

// The crystal has no strain: what the lattices of whole patterns have is error.
TEST(DoseReport, StrainOfHalvesPredictsTheErrorOfStrain) {
  const Dataset dataset = StudiedCrystal{}.loaded();
  const BraggOptions options = options_with(KernelShape::ring);
  const DoseReport report = report_of(dataset, options);
  StrainOptions usual;
  usual.origin_fit = OriginFit::none;
  usual.reference = "20,1,-1.5,21";
  const StrainResult strain = make_strain(disks_of(dataset, options), usual, quarter_gigabyte());
  double errors = 0, predicted = 0, allowed = 0, stated = 0;
  for (const auto part : {&Strain::xx, &Strain::yy, &Strain::xy, &Strain::theta}) {
    // g1 and g2 may have changed places in the reference: the largest turn is a few mrad.
    for (const Strain& one : strain.strain) errors += std::pow(one.*part, 2) / 24;
    predicted += std::pow(report.strain.*part, 2);
    allowed += std::pow(report.strain_bound.*part, 2);
    stated += std::pow(report.strain_stated.*part, 2);
  }
  EXPECT_EQ(report.strained, 24);
  // Four numbers of 24 patterns: 1 / sqrt(2 * 96) = 7 % each, 10 % their ratio.
  EXPECT_NEAR(std::sqrt(predicted / errors), 1, 0.3);
  EXPECT_NEAR(std::sqrt(stated / errors), 1, 0.25);
  // The bound knows less of the weights by intensity, and the kernel wastes a fifth.
  EXPECT_LT(allowed, stated);
  EXPECT_NEAR(report.counts_for(1e-3),
              report.counts * (std::pow(report.strain.xx, 2) + std::pow(report.strain.yy, 2)) / 2 * 1e6, 1);
}

TEST(DoseReport, OfAKnownGainIsThatOfTheElectrons) {
  const StudiedCrystal crystal;
  const BraggOptions counted = options_with(KernelShape::ring);
  BraggOptions of_gain = counted;
  of_gain.gain = 3;
  const DoseReport expected = report_of(crystal.loaded(), counted, 8);
  const DoseReport found =
      report_of(crystal.loaded_as<std::uint16_t>([](Index, std::uint32_t counts) { return 3 * counts; }), of_gain, 8);
  EXPECT_EQ(found.scatter(), expected.scatter());
  EXPECT_EQ(found.over_stated->value, expected.over_stated->value);
  EXPECT_EQ(found.strain.xx, expected.strain.xx);
  EXPECT_EQ(found.counts, expected.counts);
}

TEST(DoseReport, OfWholeFloatsIsThatOfTheCounts) {
  const StudiedCrystal crystal;
  const BraggOptions options = options_with(KernelShape::ring);
  const DoseReport found =
      report_of(crystal.loaded_as<float>([](Index, std::uint32_t counts) { return counts; }), options, 8);
  EXPECT_EQ(found.over_bound.value, report_of(crystal.loaded(), options, 8).over_bound.value);
}

std::string refusal_of(const Dataset& dataset) {
  return error_of(ErrorKind::bad_input, [&] { (void)report_of(dataset, study_options(), 12); });
}

TEST(DoseReport, AGainThatIsNotGivenIsRefusedWithItsValue) {
  const std::string error =
      refusal_of(StudiedCrystal{}.loaded_as<std::uint16_t>([](Index, std::uint32_t counts) { return 2 * counts; }));
  EXPECT_THAT(error, HasSubstr("the variance of the counts of the background between the disks is "));
  EXPECT_THAT(error, ContainsRegex("is (1.9|2.0)[0-9]\\+-0.0[0-9] times"));
  EXPECT_THAT(error, HasSubstr("times their mean; expected 0.8 to 1.2, as electrons have that are counted"));
  EXPECT_THAT(error, HasSubstr("hint: give the units of the detector for one electron where they are known, --gain "));
}

TEST(DoseReport, NoiseOfTheReadOutIsRefused) {
  std::vector<double> noise(static_cast<std::size_t>(study_rows * study_cols * study_height * study_width));
  draw_normal({5, 1}, noise);
  const std::string error =
      refusal_of(StudiedCrystal{}.loaded_as<std::uint16_t>([&](Index pixel, std::uint32_t counts) {
        return std::max(0.0, std::round(static_cast<double>(counts) + 2 * noise[static_cast<std::size_t>(pixel)]));
      }));
  EXPECT_THAT(error, HasSubstr("the variance of the counts of the background"));
  EXPECT_THAT(error, HasSubstr("noise of the read-out or a structure of the background cannot be divided into halves"));
}

TEST(DoseReport, ElectronsThatTwoPixelsShareAreRefused) {
  std::uint32_t before = 0;
  const std::string error = refusal_of(StudiedCrystal{}.loaded_as<std::uint16_t>([&](Index, std::uint32_t counts) {
    const std::uint32_t both = counts + before;
    before = counts;
    return both;
  }));
  EXPECT_THAT(error, HasSubstr("expected 0.8 to 1.2"));
  EXPECT_THAT(error, HasSubstr("hint: neighbouring pixels are smoothed, interpolated or compressed"));
}

TEST(DoseReport, ValuesThatAreNotWholeAreRefused) {
  const std::string error =
      refusal_of(StudiedCrystal{}.loaded_as<float>([](Index, std::uint32_t counts) { return 0.7 * counts; }));
  EXPECT_THAT(error, AllOf(HasSubstr("% of the values are not whole numbers of electrons; a dose report needs counts"),
                           HasSubstr("hint: give the units of the detector for one electron, --gain G")));
}

TEST(DoseReport, TooFewDisksAreRefused) {
  StudiedCrystal crystal;
  crystal.orders = 1;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)report_of(crystal.loaded(), study_options(), 1); }),
              HasSubstr("1 of the 1 patterns of the dose report have 9 disks that both halves of the counts show; "
                        "expected 10\nhint: give more patterns, --dose-report N"));
  crystal.orders = 0;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)report_of(crystal.loaded(), study_options(), 8); }),
              HasSubstr("no lattice in the 8 patterns of the dose report: "));
}

// What halves have in common they do not show; the lattice does.
TEST(DoseReport, NamesErrorsThatCountsDoNotMend) {
  StudiedCrystal crystal;
  crystal.counts = 5000;
  crystal.uneven = 0.5;
  const Dataset dataset = crystal.loaded();
  const BraggOptions options = options_with(KernelShape::ring);
  const DoseReport report = report_of(dataset, options);
  EXPECT_THAT(report.warnings, Contains(HasSubstr("from the lattice of their pattern beyond what the counts explain")));
  EXPECT_GT(report.systematic(), 2 * report.scatter());
}

TEST(DoseReport, BetweenDisksThatTouchTheNoiseInsideDisksIsLookedAt) {
  StudiedCrystal crystal;
  // Tails of disks so bright leave no pixel between them.
  crystal.background = 0;
  crystal.radius = 8.5;
  crystal.counts = 100'000;
  BraggOptions options = study_options();
  options.probe = "8.5";
  const DoseReport report = report_of(crystal.loaded(), options);
  EXPECT_TRUE(report.noise_in_disks);
  ASSERT_TRUE(report.noise);
  EXPECT_NEAR(report.noise->value, 1, 4 * report.noise->sigma);
  const Dataset doubled = crystal.loaded_as<std::uint16_t>([](Index, std::uint32_t counts) { return 2 * counts; });
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)report_of(doubled, options); }),
              HasSubstr("the variance of the counts inside the disks is "));
}

TEST(DoseReport, WithoutCountsEnoughToShowThatTheyAreElectronsSaysSo) {
  StudiedCrystal crystal;
  crystal.background = 0;
  crystal.counts = 100;
  const DoseReport report = report_of(crystal.loaded(), study_options(), 3);
  EXPECT_FALSE(report.noise);
  EXPECT_THAT(report.warnings, Contains(HasSubstr("values are taken for electrons")));
  EXPECT_THAT(report.lines(), Contains("noise     too few counts to show that they are electrons"));
}

TEST(DoseReport, LinesAndValuesHaveWhatItMeasured) {
  DoseReport report;
  report.patterns = 64;
  report.with_lattice = 63;
  report.disks = 1500;
  report.counts = 1000;
  report.bound = 0.05;
  report.noise = Measured{1.01, 0.004};
  report.over_bound = {1.25, 0.02};
  report.over_stated = Measured{0.99, 0.02};
  report.lattice_over_bound = {1.5, 0.02};
  report.strained = 50;
  report.strain = {2e-3, 2e-3, 1e-3, 1e-3};
  const std::vector<std::string> lines = report.lines();
  EXPECT_THAT(lines[0], HasSubstr("64 patterns, 63 with a lattice; 1500 disks found in both halves"));
  EXPECT_THAT(lines[1], HasSubstr("variance 1.010+-0.004 of the mean between the disks: counted electrons"));
  EXPECT_THAT(lines[2], HasSubstr("scatter by 0.0625 px"));
  EXPECT_THAT(lines[3],
              HasSubstr("0.0500 px (Cramer-Rao): the scatter is 1.25+-0.02 times it, 36 % of the counts lost"));
  EXPECT_THAT(lines[4], HasSubstr("0.99+-0.02 times the standard error"));
  EXPECT_THAT(lines[5], HasSubstr("0.0415 px do not come from counts"));  // 0.05 sqrt(1.5^2 - 1.25^2)
  EXPECT_THAT(lines[6],
              HasSubstr("e_xx 2.00e-03, e_yy 2.00e-03, e_xy 1.00e-03, theta 1.00e-03 rad at each position (50 "
                        "patterns, +-10 %)"));
  EXPECT_THAT(lines.back(), HasSubstr("4000 electrons in a disk for a strain of 1e-3"));
  EXPECT_THAT(to_json(report.to_value(), -1), HasSubstr("\"scatter_px\":0.0625"));
}

}  // namespace
}  // namespace sonde::stem
