// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/instruments/stem/lattice/basis.h"

namespace sonde::stem {

/// How much a disk counts in the fit. intensity: variances are inversely proportional to intensities, as those of
/// counts; intensity_squared: what multiplies both sides by the intensity, as py4DSTEM does; variance: those of the
/// disks themselves.
enum class PeakWeight { intensity, uniform, sqrt, intensity_squared, variance };

/// Why a position has no lattice.
enum class FitOutcome : std::uint8_t { fitted, no_pattern, few_disks, few_on_lattice, collinear, lost };
inline constexpr std::size_t fit_outcomes = 6;
/// "the disks on the lattice are on one line".
[[nodiscard]] const char* reason(FitOutcome outcome);

struct LatticeFitOptions {
  double max_peak_spacing = 2;  ///< px: a disk farther than this from its site is not on the lattice
  Index min_num_peaks = 5;
  PeakWeight weights = PeakWeight::intensity;
  bool robust = true;
};

/// Symmetric, of the components g1_x, g1_y, g2_x, g2_y, px^2.
using BasisCovariance = std::array<std::array<double, 4>, 4>;

/// The lattice of one pattern.
struct LatticeFit {
  FitOutcome outcome = FitOutcome::few_disks;
  double q0_x = 0, q0_y = 0;  ///< px
  Basis basis{};
  BasisCovariance covariance{};
  double residual = 0;    ///< rms distance of a disk from its site along one axis, by weight, 2 n - 6 of 2 n free, px
  double over_sigma = 0;  ///< the same in units of the disks' own standard deviations; 0 where they are not known
  Index peaks = 0;        ///< disks that the fit uses
};

/// A disk and where it is on a lattice, q = q0 + h g1 + k g2, with any real h and k.
struct LatticeSite {
  double h = 0, k = 0;
  std::size_t disk = 0;  ///< in the list of disks
  double miss = 0;       ///< distance from the site, px
};

/// Of the sites at one place, and of the sites of one disk, the one with the smallest miss; by h, k.
[[nodiscard]] std::vector<LatticeSite> nearest_of_each(std::vector<LatticeSite> sites);

/// Least squares of disks at known sites; false where these are on one line. Only q0 and the basis are set.
[[nodiscard]] bool solve_sites(std::span<const LatticePeak> disks, const std::vector<LatticeSite>& sites,
                               const LatticeFitOptions& options, LatticeFit& fit);

/// The last part of fit_lattice(): outliers are left out, the rest is fitted. max_peak_spacing is not used.
[[nodiscard]] LatticeFit fit_sites(std::span<const LatticePeak> disks, std::vector<LatticeSite> sites,
                                   const LatticeFitOptions& options);

/// Least squares of q_i = q0 + h_i g1 + k_i g2. Indices are rounded coordinates; the disks next to the origin are
/// indexed first and the fit to them indexes the next ones, so that strains of 10 % with turns of 10 degrees are
/// followed to any order. Of several disks at one site the nearest counts. From 8 disks on, five rounds of Tukey's
/// weights (c = 4.685, scale from the median distance) find outliers; the last fit leaves out those beyond c and is
/// otherwise plain, so that its covariance is that of least squares: s^2 (M^T W M)^-1, s^2 pooled over both axes with
/// 2 n - 6 degrees of freedom. For intensity_squared, whose weights are no inverse variances, it is the sandwich with
/// the squares of the residuals, each over the square of one less its leverage. `start`: the lattice of the scan;
/// `origin`: of this pattern. Thread-safe.
[[nodiscard]] LatticeFit fit_lattice(std::span<const LatticePeak> disks, double origin_x, double origin_y,
                                     const Basis& start, const LatticeFitOptions& options);

}  // namespace sonde::stem
