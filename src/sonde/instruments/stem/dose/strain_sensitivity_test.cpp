// SPDX-License-Identifier: Apache-2.0
// Strain of drawn crystals whose disks are evenly filled, and of those whose disks are not.
#include "sonde/instruments/stem/dose/strain_sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/dose/test_study.h"

namespace sonde::stem {
namespace {

using stem::testing::StudiedCrystal;
using stem::testing::study_options;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Budget sensitivity_budget() { return {std::size_t{1} << 28, "test"}; }

struct Found {
  StrainResult strain;
  StrainSensitivity sensitivity;
};

Found found_in(const Dataset& dataset, const StrainOptions& options = {}, Index patterns = 16) {
  const BraggOptions bragg = study_options();
  const Probe probe = find_probe(dataset, bragg);
  const BraggResult disks = make_bragg(dataset, probe, bragg, sensitivity_budget());
  Found found{make_strain(disks.vectors, options, sensitivity_budget()), {}};
  found.sensitivity = find_sensitivity(dataset, probe, bragg, options, found.strain, patterns, sensitivity_budget());
  return found;
}

double most_of(const StrainSensitivity& sensitivity, const std::string& group) {
  double most = 0;
  for (const StrainVariant& variant : sensitivity.variants)
    if (variant.group == group) most = std::max(most, variant.most());
  return most;
}

TEST(StrainSensitivity, OfEvenlyFilledDisksNothingMovesStrain) {
  for (const std::uint64_t seed : {11U, 12U}) {
    SCOPED_TRACE(seed);
    StudiedCrystal crystal;
    crystal.seed = seed;
    const Found found = found_in(crystal.loaded());
    EXPECT_EQ(found.sensitivity.patterns, 16);
    ASSERT_EQ(found.sensitivity.variants.size(), 7U);
    for (const StrainVariant& variant : found.sensitivity.variants) {
      EXPECT_EQ(variant.compared, 16) << variant.what;
      // Changes by noise have a median of at most 0.67 errors, known to 0.2 from 16 patterns.
      EXPECT_LT(variant.most(), 1.27) << variant.what;
    }
    EXPECT_THAT(found.sensitivity.warnings, IsEmpty());
  }
}

// Where a crystal bends, disks are brighter towards one side, all away from the direct one or all towards it, which
// looks like strain. How much so depends on the kernel, and on how far the disks are.
TEST(StrainSensitivity, OfContrastWithinDisksEverythingMovesStrain) {
  for (const std::uint64_t seed : {11U, 12U}) {
    SCOPED_TRACE(seed);
    StudiedCrystal crystal;
    crystal.seed = seed;
    crystal.outwards = 0.5;
    const Found found = found_in(crystal.loaded());
    EXPECT_GT(most_of(found.sensitivity, "kernel"), 1.5);
    EXPECT_GT(most_of(found.sensitivity, "mask"), 1.5);
    EXPECT_GT(most_of(found.sensitivity, "reference"), 3);
    EXPECT_THAT(found.sensitivity.warnings,
                ElementsAre(AllOf(HasSubstr("kernel (trench to 6.25 px) moves e_"), HasSubstr("contrast within disks")),
                            AllOf(HasSubstr("mask (nearer half of the disks)"), HasSubstr("not on one lattice")),
                            AllOf(HasSubstr("reference ("), HasSubstr("give "))));
  }
}

// Of a reference that is given, the other one is the median of the scan.
TEST(StrainSensitivity, OfAGivenReferenceTheMedianIsCompared) {
  StrainOptions options;
  // 1 % smaller vectors than those of the crystal: 1 % of compression, in both directions.
  options.reference = "19.8,0.99,-1.485,20.79";
  const Found found = found_in(StudiedCrystal{}.loaded(), options, 8);
  ASSERT_EQ(found.sensitivity.variants.size(), 6U);
  const StrainVariant& median = found.sensitivity.variants.back();
  EXPECT_EQ(median.what, "median of the scan");
  EXPECT_NEAR(median.change.xx, 0.01, 1e-3);  // strain errors are 7e-4 at a position, a fourth of it of 24
  EXPECT_NEAR(median.change.yy, 0.01, 1e-3);
  EXPECT_LT(median.change.theta, 1e-3);
}

TEST(StrainSensitivity, AResultWithoutLatticesHasNone) {
  StudiedCrystal crystal;
  crystal.orders = 0;
  const Found found = found_in(crystal.loaded());
  EXPECT_THAT(found.sensitivity.variants, IsEmpty());
  EXPECT_THAT(found.sensitivity.lines(), IsEmpty());
}

TEST(StrainSensitivity, TheTableHasARowForEveryVariant) {
  StrainSensitivity found;
  found.patterns = 16;
  found.plain = "ring, trench to 9.87 px";
  found.variants.push_back({.group = "kernel",
                            .what = "trench to 6.25 px",
                            .compared = 16,
                            .change = {1e-3, 2e-3, 3e-3, 4e-3},
                            .over_sigma = {0.5, 1, 1.5, 2}});
  found.variants.push_back({.group = "mask", .what = "nearer half of the disks"});
  const std::vector<std::string> lines = found.lines();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("16 patterns"), HasSubstr("ring, trench to 9.87 px")));
  EXPECT_THAT(lines[2], AllOf(HasSubstr("trench to 6.25 px"), HasSubstr("1.0e-03 0.50"), HasSubstr("4.0e-03 2.00")));
  EXPECT_THAT(lines[3], HasSubstr(" -"));
  EXPECT_THAT(to_json(found.to_value(), -1), HasSubstr("\"over_sigma\":1.5"));
}

}  // namespace
}  // namespace sonde::stem
