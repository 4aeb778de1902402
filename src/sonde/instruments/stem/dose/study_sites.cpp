// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/study_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/sampling.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/load/visit_frames.h"

namespace sonde::stem {

KeptFrames::KeptFrames(Index count, Index rows, Index cols, double gain)
    : pixels_(rows * cols), rows_(rows), cols_(cols), gain_(gain), values_(static_cast<std::size_t>(count * pixels_)) {}

void KeptFrames::take(const Tile& tile, State*) {
  visit_elements(tile.shape->elements, [&](auto element) {
    const auto* frames = static_cast<const decltype(element)*>(tile.frames);
    for (Index k = 0; k < tile.count(); ++k)
      std::transform(frames + k * pixels_, frames + (k + 1) * pixels_,
                     values_.begin() + tile.positions[static_cast<std::size_t>(k)] * pixels_,
                     [this](auto value) { return static_cast<float>(electrons(value, gain_)); });
  });
}

std::vector<Index> sample_positions(const Dataset& dataset, Index patterns) {
  const Index sample = std::min(patterns, dataset.positions());
  std::vector<Index> positions;
  for (Index i = 0; i < sample; ++i) positions.push_back(spread_sample(i, sample, dataset.positions()));
  return positions;
}

StudyWindow study_window(const Probe& probe, const BraggSearch& search, const StrainResult& lattices) {
  // Four pixels beyond the radius show the background, unless neighbours begin there.
  const double free = lattices.basis.shortest() - probe.radius - 2 * probe.edge;
  return {.reach = std::clamp(free, probe.radius + 2, probe.radius + 4),
          .tolerance = lattices.max_peak_spacing,
          .edge = static_cast<double>(search.disks.edge_boundary) + 1};
}

StrainResult sample_lattices(const BraggVectors& vectors, Index patterns, const std::string& study,
                             const std::string& key, Budget budget) {
  StrainOptions options;
  // Positions of a sample are no raster: each has the origin that it shows.
  options.origin_fit = OriginFit::none;
  StrainResult lattices = make_strain(vectors, options, budget);
  if (lattices.fitted() == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("no lattice in the {} patterns of the {}: {}", patterns, study,
                            lattices.warnings.empty() ? "none has enough disks" : lattices.warnings.front()))
        .hint("give more patterns, " + setting(key, "N") + ", or another " + setting("kernel"));
  return lattices;
}

DiskProfile profile_of(const KeptFrames& frames, const StrainResult& lattices, const Probe& probe, double reach) {
  RadialProfile rings(reach);
  for (std::size_t i = 0; i < lattices.fits.size(); ++i)
    if (lattices.fits[i].outcome == FitOutcome::fitted)
      rings.add(frames.frame(static_cast<Index>(i)), lattices.fits[i].q0_y, lattices.fits[i].q0_x);
  const auto measured = rings.disk(probe.radius);
  // A direct disk that is saturated or hidden is no measure.
  if (measured && std::abs(measured->radius - probe.radius) < 0.2 * probe.radius) return *measured;
  return {probe.radius, probe.edge};
}

std::map<SiteIndex, Site> sites_of(View<const float, 2> frame, const LatticeFit& lattice, const DiskProfile& profile,
                                   const StudyWindow& window) {
  std::map<SiteIndex, Site> sites;
  for_each_site(lattice, frame.extent[0], frame.extent[1], [&](Index h, Index k, double y, double x) {
    if (y < window.edge || y > static_cast<double>(frame.extent[0] - 1) - window.edge || x < window.edge ||
        x > static_cast<double>(frame.extent[1] - 1) - window.edge)
      return;
    if (const auto disk = count_disk(frame, profile, y, x, window.reach))
      sites.emplace(SiteIndex{h, k}, Site{.y = y, .x = x, .disk = *disk});
  });
  return sites;
}

std::optional<SiteIndex> site_of(const LatticeFit& lattice, double y, double x, double tolerance) {
  const auto [h, k] = coordinates(lattice.basis, x - lattice.q0_x, y - lattice.q0_y);
  const double i = std::round(h), j = std::round(k);
  const double off_x = (h - i) * lattice.basis.g1_x + (k - j) * lattice.basis.g2_x;
  const double off_y = (h - i) * lattice.basis.g1_y + (k - j) * lattice.basis.g2_y;
  if (std::hypot(off_x, off_y) > tolerance) return std::nullopt;
  return SiteIndex{static_cast<Index>(i), static_cast<Index>(j)};
}

std::vector<BraggVectors> find_in_sample(const Dataset& dataset, const Probe& probe,
                                         std::span<const StudySearch> searches, const std::vector<Index>& positions,
                                         const std::string& what, Operation* beside) {
  const Shape shape = dataset.shape();
  std::vector<BraggPlan> plans;
  for (const StudySearch& search : searches)
    plans.push_back(BraggPlan::prepare(shape[2], shape[3], probe, search.kernel, search.disks, dataset.good()));
  std::vector<BraggDisks> disks(plans.begin(), plans.end());
  std::vector<Operation*> operations;
  if (beside != nullptr) operations.push_back(beside);
  for (BraggDisks& each : disks) operations.push_back(&each);
  visit_frames(dataset, what, operations, positions);
  std::vector<BraggVectors> found;
  for (BraggDisks& each : disks) {
    each.vectors.probe_radius = probe.radius;
    found.push_back(std::move(each.vectors));
  }
  return found;
}

std::vector<LatticePeak> peaks_of(const BraggVectors& vectors, Index position) {
  std::vector<LatticePeak> peaks;
  for (auto i = static_cast<std::size_t>(vectors.first(position)); i < static_cast<std::size_t>(vectors.last(position));
       ++i)
    peaks.push_back({.x = static_cast<double>(vectors.qx[i]),
                     .y = static_cast<double>(vectors.qy[i]),
                     .intensity = static_cast<double>(vectors.intensity[i])});
  return peaks;
}

DiskTally put_on_sites(const BraggVectors& vectors, Index position, double tolerance, const LatticeFit& lattice,
                       const std::map<SiteIndex, Site>& sites, FoundAt& found) {
  DiskTally tally;
  for (auto i = static_cast<std::size_t>(vectors.first(position)); i < static_cast<std::size_t>(vectors.last(position));
       ++i) {
    ++tally.detections;
    const auto at = site_of(lattice, static_cast<double>(vectors.qy[i]), static_cast<double>(vectors.qx[i]), tolerance);
    if (!at) {
      ++tally.spurious;
      continue;
    }
    const auto site = sites.find(*at);
    // A site at the edge, where a bound would say nothing.
    if (site == sites.end()) continue;
    if (site->second.empty() || !found.emplace(*at, i).second) ++tally.spurious;
  }
  for (const auto& [at, site] : sites)
    if (site.there() && !found.contains(at)) ++tally.missed;
  return tally;
}

LatticeFit fit_by_bounds(const LatticeFit& start, const std::map<SiteIndex, Site>& sites,
                         const std::vector<SiteIndex>& some, const BraggVectors& vectors, const FoundAt& found,
                         double tolerance) {
  std::vector<LatticePeak> peaks;
  for (const SiteIndex& at : some) {
    const std::size_t i = found.at(at);
    const CountedDisk& disk = sites.at(at).disk;
    peaks.push_back({.x = static_cast<double>(vectors.qx[i]),
                     .y = static_cast<double>(vectors.qy[i]),
                     .intensity = disk.counts,
                     .var_x = disk.bound_x * disk.bound_x,
                     .var_y = disk.bound_y * disk.bound_y});
  }
  return fit_lattice(
      peaks, start.q0_x, start.q0_y, start.basis,
      {.max_peak_spacing = tolerance, .min_num_peaks = 5, .weights = PeakWeight::variance, .robust = true});
}

double Deviations::rms() const {
  return free > 0 ? std::sqrt(squares / free) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sonde::stem
