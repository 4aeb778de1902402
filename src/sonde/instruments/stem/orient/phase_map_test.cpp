// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/phase_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/orient/test_crystals.h"
#include "sonde/instruments/stem/orient/test_orientations.h"

namespace sonde::stem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double phase_width = 0.04;  // 1/A, half of the default kernel

/// Gold's places of atoms with a second element at a quarter of the cell's diagonal (zinc blende): the same
/// reflections at the same lengths, and other structure factors.
Crystal blende(const std::string& element) {
  return cubic("F -4 3 m", "4.078", "Au1 Au 0 0 0\nX1 " + element + " 0.25 0.25 0.25");
}

/// Silver: a cell that is 0.2 % larger than gold's, and structure factors in nearly the same ratios.
Crystal silver() { return cubic("F m -3 m", "4.0862", "Ag1 Ag 0 0 0"); }

OrientationPlan phase_plan(const Crystal& crystal) {
  OrientationOptions options{.voltage = 200};
  options.angle_step_zone_axis = options.angle_step_in_plane = 4;
  return OrientationPlan::prepare(crystal, options);
}

/// Errors of the places (1/A), and Poisson counts with this sum; disks with fewer than 3 are not found.
std::vector<DiffractionPeak> noisy(const OrientationPlan& plan, double noise, double dose, Random& random) {
  std::vector<DiffractionPeak> found, peaks = peaks_of(plan, random_orientation(random));
  double total = 0;
  for (const DiffractionPeak& peak : peaks) total += peak.intensity;
  for (DiffractionPeak peak : peaks) {
    const double rate = dose * peak.intensity / total;
    std::uint32_t count = 0;
    draw_poisson({random.bits()}, std::span(&rate, 1), std::span(&count, 1));
    peak.x += noise * random.normal();
    peak.y += noise * random.normal();
    peak.intensity = count;
    if (count >= 3) found.push_back(peak);
  }
  return found;
}

struct PhaseCount {
  int right = 0, wrong = 0, undecided = 0;
};

/// Positions of two crystals in turn, with disks a quarter of a pixel of 0.02 1/A off.
PhaseCount count_phases(const Crystal& one, const Crystal& two, int count, double dose, std::uint64_t seed,
                        double margin = 1) {
  const OrientationPlan first_plan = phase_plan(one), second_plan = phase_plan(two);
  const OrientationPlan* const plans[] = {&first_plan, &second_plan};
  Random random(seed);
  std::vector<DiffractionPeak> peaks;
  std::vector<Index> first = {0};
  for (int i = 0; i < count; ++i) {
    const std::vector<DiffractionPeak> more = noisy(*plans[i % 2], 0.005, dose, random);
    peaks.insert(peaks.end(), more.begin(), more.end());
    first.push_back(static_cast<Index>(peaks.size()));
  }
  std::vector<std::vector<PatternMatch>> matches;
  for (const OrientationPlan* plan : plans) matches.push_back(match_orientations(*plan, peaks, first));
  const PhaseMap map = map_phases(plans, peaks, first, std::move(matches), margin).phases;
  PhaseCount counted;
  for (int i = 0; i < count; ++i) {
    const auto here = static_cast<std::size_t>(i);
    if (!map.decided(here))
      ++counted.undecided;
    else
      ++(map.phase[here] == i % 2 ? counted.right : counted.wrong);
  }
  return counted;
}

TEST(PhaseMap, GoldAndIronAreToldApart) {
  const PhaseCount counted = count_phases(gold(), iron(), 100, 2000, 1);
  EXPECT_GE(counted.right, 95);
  EXPECT_LE(counted.wrong, 2);
}

// With places that are the same, intensities decide: 85 to 93 % are right over five seeds, the others not decided. Of
// 60 positions 3 standard deviations less are 46.
TEST(PhaseMap, CrystalsOfOneCellDifferByTheirIntensities) {
  const PhaseCount counted = count_phases(gold(), blende("Ag"), 60, 2000, 2);
  EXPECT_GE(counted.right, 46);
  EXPECT_LE(counted.wrong, 1);
}

// Two names of one pattern: nothing may decide, whatever the noise.
TEST(PhaseMap, GoldAndSilverAreNotDecided) {
  const PhaseCount counted = count_phases(gold(), silver(), 40, 2000, 3);
  EXPECT_GE(counted.undecided, 36);
}

// A cell of eight cells of gold has the same atoms; its further reflections have the structure factor 0. Another with
// one atom of silver in 32 has about eight times as many reflections, all but gold's weak.
TEST(PhaseMap, ACrystalWithMoreReflectionsIsNotPreferred) {
  const Crystal large = cubic("F m -3 m", "8.156", "Au1 Au 0 0 0\nAu2 Au 0.5 0 0\nAu3 Au 0.25 0.25 0");
  const Crystal doped = cubic("P m -3 m", "8.156",
                              "Ag1 Ag 0 0 0\nAu1 Au 0.5 0.5 0\nAu2 Au 0.5 0 0\nAu3 Au 0.5 0.5 0.5\nAu4 Au 0.25 0.25 0\n"
                              "Au5 Au 0.25 0.25 0.5\nAu6 Au 0.25 0 0.25\nAu7 Au 0.25 0.5 0.25");
  const OrientationPlan plan = phase_plan(gold()), of_large = phase_plan(large), of_doped = phase_plan(doped);
  ASSERT_GT(of_doped.reflections().size(), 5 * plan.reflections().size());
  Random random(4);
  for (int i = 0; i < 10; ++i) {
    const Orientation orientation = random_orientation(random);
    const std::vector<DiffractionPeak> peaks = peaks_of(plan, orientation);
    const double of_gold = shared_strength(plan, orientation, peaks, phase_width);
    EXPECT_NEAR(of_gold, 1, 1e-12);
    EXPECT_NEAR(shared_strength(of_large, orientation, peaks, phase_width), of_gold, 1e-6);  // of tabulated places
    EXPECT_LT(shared_strength(of_doped, orientation, peaks, phase_width), of_gold - 1e-4);
  }
}

// At most 1 by Cauchy and Schwarz, also where spots are nearer to each other than the width.
TEST(PhaseMap, TheStrengthThatIsSharedIsAtMostOne) {
  const OrientationPlan plan = OrientationPlan::prepare(cubic("P m -3 m", "25", "Au1 Au 0 0 0"),
                                                        {.voltage = 200, .k_max = 0.25, .angle_step_zone_axis = 20});
  Random random(5);
  for (int i = 0; i < 5; ++i) {
    const Orientation orientation = random_orientation(random);
    std::vector<DiffractionPeak> peaks = peaks_of(plan, orientation);
    ASSERT_GT(peaks.size(), 10U);
    EXPECT_NEAR(shared_strength(plan, orientation, peaks, phase_width), 1, 1e-12);
    EXPECT_GT(overlap_of(plan, orientation, peaks, phase_width), 2);  // what counts a peak for each spot near it says
    // A third of the strength without a spot: 1 / sqrt(1.5).
    double total = 0;
    for (const DiffractionPeak& peak : peaks) total += peak.intensity;
    peaks.push_back({3, 3, total / 2});
    EXPECT_NEAR(shared_strength(plan, orientation, peaks, phase_width), std::sqrt(1 / 1.5), 1e-12);
  }
}

TEST(PhaseMap, SaysWhatIsDecidedAndWhatIsFoundNowhere) {
  PhaseMap map{.names = {"Au", "Fe", "Si"}, .margin = 2};
  map.phase = {0, 0, 1, -1};
  map.reliability = {50, 1.5, 30, std::nan("")};
  map.score.assign(12, 0.5);
  EXPECT_EQ(map.line(),
            "phases    Au 25.0 %, Fe 25.0 %, Si 0.0 %, not decided 25.0 % (two crystals within 2 %), none 25.0 %");
  EXPECT_THAT(
      map.warnings(),
      ElementsAre(HasSubstr("Si is found nowhere: at no position does it explain the disks better"),
                  HasSubstr("25 % of the positions are not decided: two crystals explain their disks equally")));
  EXPECT_EQ(map.to_value().find("not_decided")->as_whole(), 1);
}

}  // namespace
}  // namespace sonde::stem
