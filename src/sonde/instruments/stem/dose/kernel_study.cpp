// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/kernel_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/report/spread.h"
#include "sonde/instruments/stem/dose/study_sites.h"

namespace sonde::stem {
namespace {

constexpr std::array all_kernels = {KernelShape::flat,        KernelShape::gaussian, KernelShape::sigmoid,
                                    KernelShape::sigmoid_log, KernelShape::ring,     KernelShape::poisson};
constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

/// The sites of one pattern, and which disk of each kernel is on them.
struct StudiedPattern {
  LatticeFit lattice;
  std::map<SiteIndex, Site> sites;
  std::array<FoundAt, all_kernels.size()> found;
};

/// Sites with counts whose disks all kernels compared have found.
std::vector<SiteIndex> common_sites(const StudiedPattern& pattern, const std::vector<KernelTrial>& trials) {
  std::vector<SiteIndex> common;
  for (const auto& [at, site] : pattern.sites) {
    bool everywhere = site.there();
    for (std::size_t kernel = 0; everywhere && kernel < trials.size(); ++kernel)
      everywhere = !trials[kernel].compared() || pattern.found[kernel].contains(at);
    if (everywhere) common.push_back(at);
  }
  return common;
}

/// The most precise kernel among those that miss hardly more disks than the most complete one.
void recommend(KernelStudy& study) {
  Index fewest = std::numeric_limits<Index>::max();
  for (const KernelTrial& trial : study.trials)
    if (trial.compared()) fewest = std::min(fewest, trial.missed);
  const KernelTrial *best = nullptr, *closest = nullptr;
  for (const KernelTrial& trial : study.trials) {
    if (!trial.compared()) continue;
    if (closest == nullptr || trial.over_bound < closest->over_bound) closest = &trial;
    // A hundredth of the disks weighs less than a hundredth of the scatter.
    if (trial.missed <= fewest + study.sites / 100 && (best == nullptr || trial.over_bound < best->over_bound))
      best = &trial;
  }
  study.recommended = best->kernel;
  study.because = fmt::format("places scatter {:.2f} times as much as the counts allow, the least of all kernels",
                              best->over_bound);
  if (closest != best)
    study.because = fmt::format(
        "places scatter {:.2f} times as much as the counts allow; {} comes closer, but misses "
        "{} disks in place of {}",
        best->over_bound, name(closest->kernel), closest->missed, best->missed);
  if (20 * best->spurious > best->detections)
    study.warnings.push_back(fmt::format(
        "{} of the {} disks that kernel {} finds are not disks of the lattice; raise {} until they are gone",
        best->spurious, best->detections, name(best->kernel), setting("min_relative_intensity")));
  if (best->over_bound > 1.5)
    study.warnings.push_back(fmt::format(
        "even with kernel {} places scatter {:.1f} times as much as the counts allow: disks may overlap, be "
        "unevenly filled, or not be on one lattice",
        name(best->kernel), best->over_bound));
}

std::vector<StudiedPattern> place_all(const KeptFrames& frames, const std::vector<BraggVectors>& vectors,
                                      const StrainResult& lattices, const StudyWindow& window, KernelStudy& study) {
  std::vector<StudiedPattern> patterns;
  for (Index position = 0; position < lattices.positions(); ++position) {
    const LatticeFit& lattice = lattices.fits[static_cast<std::size_t>(position)];
    if (lattice.outcome != FitOutcome::fitted) continue;
    StudiedPattern pattern{lattice, sites_of(frames.frame(position), lattice, study.profile, window), {}};
    for (std::size_t kernel = 0; kernel < all_kernels.size(); ++kernel) {
      const DiskTally tally = put_on_sites(vectors[kernel], position, window.tolerance, pattern.lattice, pattern.sites,
                                           pattern.found[kernel]);
      study.trials[kernel].detections += tally.detections;
      study.trials[kernel].spurious += tally.spurious;
      study.trials[kernel].missed += tally.missed;
    }
    for (const auto& [at, site] : pattern.sites) study.sites += site.there() ? 1 : 0;
    patterns.push_back(std::move(pattern));
  }
  study.with_lattice = static_cast<Index>(patterns.size());
  return patterns;
}

}  // namespace

bool KernelTrial::compared() const { return !std::isnan(over_bound); }

double KernelTrial::counts_lost() const {
  return compared() ? std::max(0.0, 1 - 1 / (over_bound * over_bound)) : nowhere;
}

const KernelTrial& KernelStudy::of(KernelShape kernel) const { return trials[static_cast<std::size_t>(kernel)]; }

KernelStudy study_kernels(const Dataset& dataset, const Probe& probe, const BraggOptions& options, Index patterns,
                          Budget budget) {
  const Shape shape = dataset.shape();
  const std::vector<Index> positions = sample_positions(dataset, patterns);
  const auto sample = static_cast<Index>(positions.size());
  const Reservation room = budget.reserve(
      sizeof(float) * static_cast<std::size_t>(sample * shape[2] * shape[3]) +
          all_kernels.size() * BraggDisks::most_bytes(sample, options.max_num_peaks),
      "patterns of the kernel study", "give fewer, " + setting("kernel_study", "N") + ", or more " + setting("memory"));
  const BraggSearch search = choose_search(dataset, probe, options);
  std::vector<StudySearch> searches(all_kernels.size(), {search.kernel, search.disks});
  for (std::size_t kernel = 0; kernel < all_kernels.size(); ++kernel)
    searches[kernel].kernel.shape = all_kernels[kernel];
  KeptFrames frames(sample, shape[2], shape[3]);
  const std::vector<BraggVectors> found = find_in_sample(dataset, probe, searches, positions, "kernel study", &frames);
  const StrainResult lattices =
      sample_lattices(found[static_cast<std::size_t>(options.kernel)], sample, "kernel study", "kernel_study", budget);
  const StudyWindow window = study_window(probe, search, lattices);

  KernelStudy study;
  study.patterns = sample;
  study.counted = !is_float(dataset.dtype());
  for (const KernelShape kernel : all_kernels) study.trials.push_back({.kernel = kernel});
  study.profile = profile_of(frames, lattices, probe, window.reach);
  const std::vector<StudiedPattern> studied = place_all(frames, found, lattices, window, study);
  for (KernelTrial& trial : study.trials)
    if (2 * trial.missed > study.sites) trial.over_bound = nowhere;

  std::vector<Deviations> deviations(all_kernels.size());
  std::vector<double> bounds, counts;
  for (const StudiedPattern& pattern : studied) {
    const std::vector<SiteIndex> common = common_sites(pattern, study.trials);
    for (const SiteIndex& at : common) {
      const CountedDisk& disk = pattern.sites.at(at).disk;
      bounds.push_back(std::hypot(disk.bound_y, disk.bound_x) / std::sqrt(2.0));
      counts.push_back(disk.counts);
    }
    for (std::size_t kernel = 0; kernel < all_kernels.size(); ++kernel) {
      if (!study.trials[kernel].compared()) continue;
      const LatticeFit made =
          fit_by_bounds(pattern.lattice, pattern.sites, common, found[kernel], pattern.found[kernel], window.tolerance);
      if (made.outcome != FitOutcome::fitted) continue;
      study.trials[kernel].outliers += static_cast<Index>(common.size()) - made.peaks;
      deviations[kernel].add(made);
    }
  }
  study.disks = static_cast<Index>(bounds.size());
  for (std::size_t kernel = 0; kernel < all_kernels.size(); ++kernel) {
    KernelTrial& trial = study.trials[kernel];
    if (!trial.compared()) continue;
    const Deviations& of = deviations[kernel];
    trial.over_bound = of.rms();
    trial.over_bound_sigma = trial.over_bound / std::sqrt(2 * of.free);
  }
  if (std::none_of(study.trials.begin(), study.trials.end(), [](const KernelTrial& t) { return t.compared(); }))
    throw Error(
        ErrorKind::bad_input,
        fmt::format("the {} patterns of the kernel study have {} disks on a lattice, too few to compare kernels",
                    sample, study.sites))
        .hint("give more patterns, " + setting("kernel_study", "N"));
  study.bound = median(bounds);
  study.counts = median(counts);
  if (!study.counted)
    study.warnings.push_back(
        "values are not counts: bounds hold for one electron per unit, kernels are compared all the same");
  recommend(study);
  return study;
}

}  // namespace sonde::stem
