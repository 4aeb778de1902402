// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/match_orientations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/orient/test_crystals.h"
#include "sonde/instruments/stem/orient/test_orientations.h"

namespace sonde::stem {
namespace {

using std::numbers::pi;

PatternMatch match_one(const OrientationPlan& plan, const std::vector<DiffractionPeak>& peaks,
                       const MatchOptions& options = {}) {
  return match_orientations(plan, peaks, std::vector<Index>{0, static_cast<Index>(peaks.size())}, options).at(0);
}

OrientationOptions coarse() {
  OrientationOptions options{.voltage = 200};
  options.angle_step_zone_axis = 8;
  options.angle_step_in_plane = 10;
  return options;
}

/// The correlation by its definition, in double precision.
struct Reference {
  const OrientationPlan& plan;
  std::vector<std::vector<double>> measured;

  Reference(const OrientationPlan& of, const std::vector<DiffractionPeak>& peaks) : plan(of) {
    const OrientationOptions& options = of.options();
    double norm = 0;
    for (const double radius : of.radii()) {
      measured.emplace_back(static_cast<std::size_t>(of.angles()), 0.0);
      for (const DiffractionPeak& peak : peaks) {
        const double off = std::hypot(peak.x, peak.y) - radius;
        if (std::abs(off) >= options.corr_kernel_size) continue;
        for (std::size_t m = 0; m < measured.back().size(); ++m) {
          double turn = 2 * pi * static_cast<double>(m) / static_cast<double>(of.angles()) - std::atan2(peak.y, peak.x);
          turn -= 2 * pi * std::round(turn / (2 * pi));
          const double far = off * off + radius * turn * radius * turn;
          measured.back()[m] += radius * std::pow(peak.intensity, 0.25) * std::exp(-far / (2 * 0.08 * 0.08));
        }
      }
      for (const double value : measured.back()) norm += value * value;
    }
    for (auto& row : measured)
      for (double& value : row) value /= std::sqrt(norm);
  }

  /// Of the pattern of a zone turned by an angle, or of the mirrored measurement.
  double largest(const Vec3& zone, bool mirrored) const {
    const auto angles = static_cast<std::size_t>(plan.angles());
    std::vector<std::vector<double>> zone_pattern(plan.radii().size(), std::vector<double>(angles, 0.0));
    double norm = 0, best = 0;
    for (const KinematicSpot& spot : kinematic_pattern(plan.reflections(), orientation_along(zone), plan.beam())) {
      std::size_t shell = 0;
      while (std::abs(plan.reflections()[spot.reflection].length - plan.radii()[shell]) > 0.01) ++shell;
      double at = std::atan2(spot.y, spot.x) / (2 * pi) * static_cast<double>(angles);
      if (at < 0) at += static_cast<double>(angles);
      const double part = at - std::floor(at), value = plan.radii()[shell] * std::pow(spot.intensity, 0.25);
      zone_pattern[shell][static_cast<std::size_t>(at) % angles] += (1 - part) * value;
      zone_pattern[shell][(static_cast<std::size_t>(at) + 1) % angles] += part * value;
    }
    for (const auto& row : zone_pattern)
      for (const double value : row) norm += value * value;
    for (std::size_t turn = 0; turn < angles; ++turn) {
      double total = 0;
      for (std::size_t s = 0; s < measured.size(); ++s)
        for (std::size_t m = 0; m < angles; ++m)
          total += zone_pattern[s][m] * measured[s][mirrored ? (2 * angles - m - turn) % angles : (m + turn) % angles];
      best = std::max(best, total);
    }
    return best / std::sqrt(norm);
  }
};

TEST(MatchOrientations, FindsTheLargestCorrelationOfItsDefinition) {
  const OrientationPlan plan = OrientationPlan::prepare(gold(), coarse());
  EXPECT_EQ(plan.radii().size(), 13U);
  Random random(11);
  for (int i = 0; i < 4; ++i) {
    const std::vector<DiffractionPeak> peaks = peaks_of(plan, random_orientation(random));
    const PatternMatch match = match_one(plan, peaks, {.refine = false});
    ASSERT_EQ(match.matches.size(), 1U);
    const Reference reference(plan, peaks);
    double best = 0, second = 0;
    for (const Vec3& zone : plan.zones())
      for (const bool mirrored : {false, true}) best = std::max(best, reference.largest(zone, mirrored));
    const Vec3& found = plan.zones()[static_cast<std::size_t>(match.matches[0].zone)];
    for (const Vec3& zone : plan.zones()) {
      double nearest = -1;
      for (const Mat3& turn : plan.group().cartesian) nearest = std::max(nearest, dot(times(turn, zone), found));
      if (nearest < std::cos(5 * degree))
        for (const bool mirrored : {false, true}) second = std::max(second, reference.largest(zone, mirrored));
    }
    // Sums of float32, and arcs beyond 4.5 kernels left out: 4e-5 each.
    EXPECT_NEAR(match.matches[0].correlation, best, 2e-4);
    EXPECT_NEAR(reference.largest(found, match.matches[0].mirrored), best, 2e-4);
    EXPECT_NEAR(match.reliability, 100 * (1 - second / best), 0.05);
  }
}

TEST(MatchOrientations, FindsRandomOrientationsOfGold) {
  const OrientationPlan plan = OrientationPlan::prepare(gold(), {.voltage = 200});
  const std::vector<Mat3> proper = plan.group().proper();
  Random random(1);
  std::vector<Orientation> truth;
  std::vector<DiffractionPeak> peaks;
  std::vector<Index> first = {0};
  for (int i = 0; i < 200; ++i) {
    truth.push_back(random_orientation(random));
    for (const DiffractionPeak& peak : peaks_of(plan, truth.back())) peaks.push_back(peak);
    first.push_back(static_cast<Index>(peaks.size()));
  }
  const std::vector<PatternMatch> found = match_orientations(plan, peaks, first, {.refine = false});
  double total = 0, largest = 0;
  int mirrored = 0, wrong = 0, flagged = 0, resolved = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const OrientationMatch& match = found[i].matches.at(0);
    const double error = error_beside_ambiguity(plan, truth[i], match.orientation) / degree;
    total += error;
    largest = std::max(largest, error);
    mirrored += match.mirrored ? 1 : 0;
    flagged += match.other ? 1 : 0;
    if (misorientation(truth[i], match.orientation, proper) < 3 * degree) continue;
    ++wrong;
    // The flag gives the right one beside it.
    resolved += match.other && misorientation(truth[i], *match.other, proper) < 3 * degree ? 1 : 0;
  }
  // A plan of 2 degrees: half a step along each of three turns is 1.7 degrees from the corner of a cell.
  EXPECT_LT(total / static_cast<double>(truth.size()), 1.1);
  EXPECT_LT(largest, 3);
  EXPECT_LE(wrong, 16);  // 92 % are right without the ambiguity of a projection
  EXPECT_EQ(resolved, wrong);
  EXPECT_LT(flagged, 50);
  // Half of all directions are in triangles that are mirror images.
  EXPECT_GT(mirrored, 60);
  EXPECT_LT(mirrored, 140);
}

TEST(MatchOrientations, ResultsDoNotDependOnTheirNeighbours) {
  const OrientationPlan plan = OrientationPlan::prepare(gold(), coarse());
  Random random(2);
  std::vector<DiffractionPeak> all;
  std::vector<Index> first = {0};
  std::vector<std::vector<DiffractionPeak>> each;
  for (int i = 0; i < 18; ++i) {
    each.push_back(i == 5 ? std::vector<DiffractionPeak>{} : peaks_of(plan, random_orientation(random)));
    all.insert(all.end(), each.back().begin(), each.back().end());
    first.push_back(static_cast<Index>(all.size()));
  }
  const std::vector<PatternMatch> together = match_orientations(plan, all, first);
  EXPECT_TRUE(together[5].matches.empty());
  for (const std::size_t i : {0U, 7U, 17U}) {
    const PatternMatch single = match_one(plan, each[i]);
    EXPECT_EQ(single.matches.at(0).zone, together[i].matches.at(0).zone);
    EXPECT_EQ(single.matches.at(0).in_plane, together[i].matches.at(0).in_plane);
    EXPECT_EQ(single.reliability, together[i].reliability);
  }
}

TEST(MatchOrientations, OverlappingCrystalsAreFoundOneAfterTheOther) {
  const OrientationPlan plan = OrientationPlan::prepare(gold(), {.voltage = 200});
  Random random(4);
  const Orientation one = random_orientation(random), other = random_orientation(random);
  std::vector<DiffractionPeak> peaks = peaks_of(plan, one);
  for (DiffractionPeak peak : peaks_of(plan, other)) {
    peak.intensity *= 0.3;
    peaks.push_back(peak);
  }
  const PatternMatch match = match_one(plan, peaks, {.matches = 2});
  ASSERT_EQ(match.matches.size(), 2U);
  EXPECT_LT(error_beside_ambiguity(plan, one, match.matches[0].orientation), 3 * degree);
  EXPECT_LT(error_beside_ambiguity(plan, other, match.matches[1].orientation), 3 * degree);
  // Two peaks are below the usual limit.
  EXPECT_TRUE(match_one(plan, {peaks[0], peaks[1]}).matches.empty());
}

TEST(MatchOrientations, OverlapIsOneForTheSamePatternAndLessForOthers) {
  const OrientationPlan plan = OrientationPlan::prepare(gold(), coarse());
  Random random(6);
  const Orientation truth = random_orientation(random);
  const std::vector<DiffractionPeak> peaks = peaks_of(plan, truth);
  EXPECT_NEAR(overlap_of(plan, truth, peaks, 0.02), 1, 1e-3);  // neighbours are 15 widths away
  const Orientation off = times(truth, turn_in_plane(2 * degree));
  EXPECT_LT(overlap_of(plan, off, peaks, 0.02), 0.9);
}

}  // namespace
}  // namespace sonde::stem
