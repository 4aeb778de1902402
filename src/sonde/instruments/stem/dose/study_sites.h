// SPDX-License-Identifier: Apache-2.0
// Private to the room: the patterns of a study, their lattices, and what the counts say of the disk at each site.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/dose/disk_bound.h"
#include "sonde/instruments/stem/lattice/strain_result.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// Electrons of a value of a detector that gives `gain` units for each: whole ones, unless the gain is 1.
template <class T>
[[nodiscard]] double electrons(T value, double gain) {
  return gain == 1 ? static_cast<double>(value) : std::round(static_cast<double>(value) / gain);
}

/// The frames of a pass in electrons as float, which holds them up to 2^24 exactly.
class KeptFrames final : public Operation {
 public:
  KeptFrames(Index count, Index rows, Index cols, double gain = 1);

  [[nodiscard]] Abilities abilities(const PassShape&) const override { return {}; }
  void start(const PassShape&) override {}
  void take(const Tile& tile, State*) override;
  [[nodiscard]] View<const float, 2> frame(Index position) const {
    return {values_.data() + position * pixels_, rows_, cols_};
  }

 private:
  Index pixels_, rows_, cols_;
  double gain_;
  std::vector<float> values_;
};

/// Scan positions of a sample of at most `patterns`, spread over the scan, ascending.
[[nodiscard]] std::vector<Index> sample_positions(const Dataset& dataset, Index patterns);

/// A place of a lattice, with the disk there.
struct Site {
  // Of the height of a disk over its standard error. Between them nothing is said: noise may have made or hidden it.
  static constexpr double surely_there = 5, surely_empty = 2;

  double y = 0, x = 0;
  CountedDisk disk{};
  [[nodiscard]] bool there() const { return disk.height > surely_there * disk.height_sigma; }
  [[nodiscard]] bool empty() const { return disk.height < surely_empty * disk.height_sigma; }
};
using SiteIndex = std::pair<Index, Index>;
/// Of the disks of one pattern, which one is on a site.
using FoundAt = std::map<SiteIndex, std::size_t>;

/// What the lattices of a sample are measured with.
struct StudyWindow {
  double reach = 0;      // px: of counts about a site
  double tolerance = 0;  // px: a disk farther from its site is not on it
  double edge = 0;       // px: sites nearer to the edge of the detector are left out
};
[[nodiscard]] StudyWindow study_window(const Probe& probe, const BraggSearch& search, const StrainResult& lattices);

/// Lattices of the disks of a sample of `patterns`. `study` ("kernel study") and its setting are named where there is
/// none: Error(bad_input).
[[nodiscard]] StrainResult sample_lattices(const BraggVectors& vectors, Index patterns, const std::string& study,
                                           const std::string& key, Budget budget);

/// The profile of the direct disks, each about its own place: that of the mean pattern is wider where the beam moves.
[[nodiscard]] DiskProfile profile_of(const KeptFrames& frames, const StrainResult& lattices, const Probe& probe,
                                     double reach);

/// The sites of a lattice that are inside the edge, with the disks that the counts show there.
[[nodiscard]] std::map<SiteIndex, Site> sites_of(View<const float, 2> frame, const LatticeFit& lattice,
                                                 const DiskProfile& profile, const StudyWindow& window);

/// body(h, k, y, x) for every site of a lattice that may be on a pattern of this size.
template <class Body>
void for_each_site(const LatticeFit& lattice, Index rows, Index cols, Body&& body) {
  const Basis& g = lattice.basis;
  const auto most = static_cast<Index>(std::ceil(std::hypot(rows, cols) / (g.shortest() * std::max(0.1, g.opening()))));
  for (Index h = -most; h <= most; ++h)
    for (Index k = -most; k <= most; ++k) {
      const auto i = static_cast<double>(h), j = static_cast<double>(k);
      body(h, k, lattice.q0_y + i * g.g1_y + j * g.g2_y, lattice.q0_x + i * g.g1_x + j * g.g2_x);
    }
}

/// How the disks of a sample are found, in one of several ways.
struct StudySearch {
  KernelSettings kernel;
  DiskSettings disks;
};
/// The disks of the patterns at some scan positions by each search, in one reading that also feeds `beside`, if any.
/// Position p of the lists is that of positions[p]. `what` names the reading.
[[nodiscard]] std::vector<BraggVectors> find_in_sample(const Dataset& dataset, const Probe& probe,
                                                       std::span<const StudySearch> searches,
                                                       const std::vector<Index>& positions, const std::string& what,
                                                       Operation* beside);

/// The disks of one pattern as a fit takes them.
[[nodiscard]] std::vector<LatticePeak> peaks_of(const BraggVectors& vectors, Index position);

/// The site of a disk; nothing where it is on none.
[[nodiscard]] std::optional<SiteIndex> site_of(const LatticeFit& lattice, double y, double x, double tolerance);

/// Of the disks of some patterns.
struct DiskTally {
  Index detections = 0;
  Index spurious = 0;  ///< of these, on no site of the lattice, on an occupied one, or on one without counts
  Index missed = 0;    ///< sites with counts that have no disk
};
/// Gives every disk of a pattern its site. Of several at a site the brightest, which comes first, is on it.
DiskTally put_on_sites(const BraggVectors& vectors, Index position, double tolerance, const LatticeFit& lattice,
                       const std::map<SiteIndex, Site>& sites, FoundAt& found);

/// The lattice of disks on some sites, weighted by the bounds of these, so that over_sigma of the fit is their rms
/// distance from it over the bound.
[[nodiscard]] LatticeFit fit_by_bounds(const LatticeFit& start, const std::map<SiteIndex, Site>& sites,
                                       const std::vector<SiteIndex>& some, const BraggVectors& vectors,
                                       const FoundAt& found, double tolerance);

/// Squares of deviations over bounds, and how many are free.
struct Deviations {
  double squares = 0, free = 0;

  void add(const LatticeFit& fit) {
    const auto more = static_cast<double>(2 * fit.peaks - 6);
    squares += fit.over_sigma * fit.over_sigma * more;
    free += more;
  }
  /// NaN without any.
  [[nodiscard]] double rms() const;
};

}  // namespace sonde::stem
