// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/orient_strain.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace sonde::stem {
namespace {

constexpr double first_reach = 0.75;  // 1/A: 5 % of strain move a disk there by a third of the usual spacing of spots
constexpr double reach_growth = 1.25;
constexpr int most_indexings = 5;
constexpr Basis undeformed{1, 0, 0, 1};

/// Pairs of disks and spots g of the pattern, moved by a fit, up to a distance from the direct beam.
std::vector<LatticeSite> pair_disks(std::span<const LatticePeak> disks, const std::vector<LatticeSite>& spots,
                                    const LatticeFit& fit, double reach, double spacing) {
  std::vector<LatticeSite> pairs;
  for (const LatticeSite& spot : spots) {
    if (std::hypot(spot.h, spot.k) > reach) continue;
    const double x = fit.q0_x + spot.h * fit.basis.g1_x + spot.k * fit.basis.g2_x;
    const double y = fit.q0_y + spot.h * fit.basis.g1_y + spot.k * fit.basis.g2_y;
    for (std::size_t i = 0; i < disks.size(); ++i) {
      const double miss = std::hypot(disks[i].x - x, disks[i].y - y);
      if (miss <= spacing) pairs.push_back({spot.h, spot.k, i, miss});
    }
  }
  return nearest_of_each(std::move(pairs));
}

}  // namespace

LatticeFit fit_deformation(const OrientationPlan& plan, const Orientation& orientation,
                           std::span<const DiffractionPeak> peaks, double q_pixel, const LatticeFitOptions& options) {
  std::vector<LatticePeak> disks;
  for (const DiffractionPeak& peak : peaks)
    if (peak.intensity > 0) disks.push_back({peak.x / q_pixel, peak.y / q_pixel, peak.intensity});
  std::vector<LatticeSite> spots;
  double farthest = 0;
  for (const KinematicSpot& spot : kinematic_pattern(plan.reflections(), orientation, plan.beam())) {
    spots.push_back({.h = spot.x / q_pixel, .k = spot.y / q_pixel});
    farthest = std::max(farthest, std::hypot(spots.back().h, spots.back().k));
  }
  LatticeFit fit;
  fit.basis = undeformed;
  std::vector<LatticeSite> pairs;
  const auto improve = [&](double reach) {
    pairs = pair_disks(disks, spots, fit, reach, options.max_peak_spacing);
    LatticeFit next = fit;
    if (static_cast<Index>(pairs.size()) < std::max<Index>(options.min_num_peaks, 4) ||
        !solve_sites(disks, pairs, options, next))
      return;
    // Few pairs, or wrong ones, may make any lattice of a crystal.
    if (const double area = next.basis.area(); area > 0.5 && area < 2) fit = next;
  };
  for (double reach = first_reach / q_pixel; reach < farthest; reach *= reach_growth) improve(reach);
  for (int round = 0; round < most_indexings; ++round) {
    const std::size_t before = pairs.size();
    improve(farthest);
    if (round > 0 && pairs.size() == before) break;
  }
  return fit_sites(disks, pair_disks(disks, spots, fit, farthest, options.max_peak_spacing), options);
}

}  // namespace sonde::stem
