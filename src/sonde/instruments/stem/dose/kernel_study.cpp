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
#include "sonde/engine/base/sampling.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/report/spread.h"
#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/lattice/strain_result.h"
#include "sonde/instruments/stem/load/visit_frames.h"

namespace sonde::stem {
namespace {

constexpr std::array all_kernels = {KernelShape::flat,        KernelShape::gaussian, KernelShape::sigmoid,
                                    KernelShape::sigmoid_log, KernelShape::ring,     KernelShape::poisson};
// Of the height of a disk over its standard error. Between them nothing is said: noise may have made or hidden it.
constexpr double surely_there = 5, surely_empty = 2;
constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

/// The frames of a pass as float, which holds counts up to 2^24 exactly.
class KeptFrames final : public Operation {
 public:
  KeptFrames(Index count, Index rows, Index cols)
      : pixels_(rows * cols), rows_(rows), cols_(cols), values_(static_cast<std::size_t>(count * pixels_)) {}

  [[nodiscard]] Abilities abilities(const PassShape&) const override { return {}; }
  void start(const PassShape&) override {}
  void take(const Tile& tile, State*) override {
    visit_elements(tile.shape->elements, [&](auto element) {
      const auto* frames = static_cast<const decltype(element)*>(tile.frames);
      for (Index k = 0; k < tile.count(); ++k)
        std::transform(frames + k * pixels_, frames + (k + 1) * pixels_,
                       values_.begin() + tile.positions[static_cast<std::size_t>(k)] * pixels_,
                       [](auto value) { return static_cast<float>(value); });
    });
  }
  [[nodiscard]] View<const float, 2> frame(Index position) const {
    return {values_.data() + position * pixels_, rows_, cols_};
  }

 private:
  Index pixels_, rows_, cols_;
  std::vector<float> values_;
};

/// A place of a lattice, with the disk there.
struct Site {
  double y = 0, x = 0;
  CountedDisk disk{};
  [[nodiscard]] bool there() const { return disk.height > surely_there * disk.height_sigma; }
  [[nodiscard]] bool empty() const { return disk.height < surely_empty * disk.height_sigma; }
};
using SiteIndex = std::pair<Index, Index>;

/// The sites of one pattern, and which disk of each kernel is on them.
struct StudiedPattern {
  LatticeFit lattice;
  std::map<SiteIndex, Site> sites;
  std::array<std::map<SiteIndex, std::size_t>, all_kernels.size()> found;
};

/// The frames and disks of a sample, read once.
struct StudyPass {
  KeptFrames frames;
  std::vector<BraggVectors> vectors;  // (kernel)
};

StudyPass read_sample(const Dataset& dataset, const Probe& probe, const BraggSearch& search,
                      const std::vector<Index>& positions) {
  const Shape shape = dataset.shape();
  const auto count = static_cast<Index>(positions.size());
  std::vector<BraggPlan> plans;
  for (const KernelShape kernel : all_kernels) {
    KernelSettings settings = search.kernel;
    settings.shape = kernel;
    plans.push_back(BraggPlan::prepare(shape[2], shape[3], probe, settings, search.disks));
  }
  StudyPass pass{KeptFrames(count, shape[2], shape[3]), {}};
  std::vector<BraggDisks> disks(plans.begin(), plans.end());
  std::vector<Operation*> operations{&pass.frames};
  for (BraggDisks& each : disks) operations.push_back(&each);
  visit_frames(dataset, "kernel study", operations, positions);
  for (BraggDisks& each : disks) {
    each.vectors.probe_radius = probe.radius;
    pass.vectors.push_back(std::move(each.vectors));
  }
  return pass;
}

/// What the lattices of the sample are measured with.
struct StudyWindow {
  double reach = 0;      // px: of counts about a site
  double tolerance = 0;  // px: a disk farther from its site is not on it
  double edge = 0;       // px: sites nearer to the edge of the detector are left out
};

StudyWindow study_window(const Probe& probe, const BraggSearch& search, const StrainResult& lattices) {
  // Four pixels beyond the radius show the background, unless neighbours begin there.
  const double free = lattices.basis.shortest() - probe.radius - 2 * probe.edge;
  return {.reach = std::clamp(free, probe.radius + 2, probe.radius + 4),
          .tolerance = lattices.max_peak_spacing,
          .edge = static_cast<double>(search.disks.edge_boundary) + 1};
}

/// The profile of the direct disks, each about its own place: that of the mean pattern is wider where the beam moves.
DiskProfile profile_of(const StudyPass& pass, const StrainResult& lattices, const Probe& probe, double reach) {
  RadialProfile rings(reach);
  for (std::size_t i = 0; i < lattices.fits.size(); ++i)
    if (lattices.fits[i].outcome == FitOutcome::fitted)
      rings.add(pass.frames.frame(static_cast<Index>(i)), lattices.fits[i].q0_y, lattices.fits[i].q0_x);
  const auto measured = rings.disk(probe.radius);
  // A direct disk that is saturated or hidden is no measure.
  if (measured && std::abs(measured->radius - probe.radius) < 0.2 * probe.radius) return *measured;
  return {probe.radius, probe.edge};
}

std::map<SiteIndex, Site> sites_of(View<const float, 2> frame, const LatticeFit& lattice, const DiskProfile& profile,
                                   const StudyWindow& window) {
  std::map<SiteIndex, Site> sites;
  const Basis& g = lattice.basis;
  const auto most = static_cast<Index>(
      std::ceil(std::hypot(frame.extent[0], frame.extent[1]) / (g.shortest() * std::max(0.1, g.opening()))));
  for (Index h = -most; h <= most; ++h)
    for (Index k = -most; k <= most; ++k) {
      const auto i = static_cast<double>(h), j = static_cast<double>(k);
      Site site{.y = lattice.q0_y + i * g.g1_y + j * g.g2_y, .x = lattice.q0_x + i * g.g1_x + j * g.g2_x};
      if (site.y < window.edge || site.y > static_cast<double>(frame.extent[0] - 1) - window.edge ||
          site.x < window.edge || site.x > static_cast<double>(frame.extent[1] - 1) - window.edge)
        continue;
      const auto disk = count_disk(frame, profile, site.y, site.x, window.reach);
      if (!disk) continue;
      site.disk = *disk;
      sites.emplace(SiteIndex{h, k}, site);
    }
  return sites;
}

/// The site of a disk; nothing where it is on none.
std::optional<SiteIndex> site_of(const LatticeFit& lattice, double y, double x, double tolerance) {
  const auto [h, k] = coordinates(lattice.basis, x - lattice.q0_x, y - lattice.q0_y);
  const double i = std::round(h), j = std::round(k);
  const double off_x = (h - i) * lattice.basis.g1_x + (k - j) * lattice.basis.g2_x;
  const double off_y = (h - i) * lattice.basis.g1_y + (k - j) * lattice.basis.g2_y;
  if (std::hypot(off_x, off_y) > tolerance) return std::nullopt;
  return SiteIndex{static_cast<Index>(i), static_cast<Index>(j)};
}

/// Gives every disk of a pattern its site and counts those that have none. Disks come the brightest first.
void place_disks(const BraggVectors& vectors, Index position, double tolerance, StudiedPattern& pattern,
                 std::map<SiteIndex, std::size_t>& found, KernelTrial& trial) {
  for (auto i = static_cast<std::size_t>(vectors.first(position)); i < static_cast<std::size_t>(vectors.last(position));
       ++i) {
    ++trial.detections;
    const auto at =
        site_of(pattern.lattice, static_cast<double>(vectors.qy[i]), static_cast<double>(vectors.qx[i]), tolerance);
    if (!at) {
      ++trial.spurious;
      continue;
    }
    const auto site = pattern.sites.find(*at);
    // A site at the edge, where a bound would say nothing.
    if (site == pattern.sites.end()) continue;
    if (site->second.empty() || !found.emplace(*at, i).second) ++trial.spurious;
  }
  for (const auto& [at, site] : pattern.sites)
    if (site.there() && !found.contains(at)) ++trial.missed;
}

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

/// Squares of deviations over bounds, and how many are free.
struct Deviations {
  double squares = 0, free = 0;
};

void add_deviations(const StudiedPattern& pattern, const std::vector<SiteIndex>& common, const BraggVectors& vectors,
                    const std::map<SiteIndex, std::size_t>& found, const LatticeFitOptions& fit, KernelTrial& trial,
                    Deviations& deviations) {
  std::vector<LatticePeak> peaks;
  for (const SiteIndex& at : common) {
    const std::size_t i = found.at(at);
    const CountedDisk& disk = pattern.sites.at(at).disk;
    peaks.push_back({.x = static_cast<double>(vectors.qx[i]),
                     .y = static_cast<double>(vectors.qy[i]),
                     .intensity = disk.counts,
                     .var_x = disk.bound_x * disk.bound_x,
                     .var_y = disk.bound_y * disk.bound_y});
  }
  const LatticeFit made = fit_lattice(peaks, pattern.lattice.q0_x, pattern.lattice.q0_y, pattern.lattice.basis, fit);
  if (made.outcome != FitOutcome::fitted) return;
  const auto free = static_cast<double>(2 * made.peaks - 6);
  trial.outliers += static_cast<Index>(peaks.size()) - made.peaks;
  deviations.squares += made.over_sigma * made.over_sigma * free;
  deviations.free += free;
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

/// Lattices of the disks of the kernel asked for.
StrainResult sample_lattices(const BraggVectors& vectors, Index patterns, Budget budget) {
  StrainOptions options;
  // Positions of a sample are no raster: each has the origin that it shows.
  options.origin_fit = OriginFit::none;
  StrainResult lattices = make_strain(vectors, options, budget);
  if (lattices.fitted() == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("no lattice in the {} patterns of the kernel study: {}", patterns,
                            lattices.warnings.empty() ? "none has enough disks" : lattices.warnings.front()))
        .hint("give more patterns, " + setting("kernel_study", "N") + ", or another " + setting("kernel"));
  return lattices;
}

std::vector<StudiedPattern> place_all(const StudyPass& pass, const StrainResult& lattices, const StudyWindow& window,
                                      KernelStudy& study) {
  std::vector<StudiedPattern> patterns;
  for (Index position = 0; position < lattices.positions(); ++position) {
    const LatticeFit& lattice = lattices.fits[static_cast<std::size_t>(position)];
    if (lattice.outcome != FitOutcome::fitted) continue;
    StudiedPattern pattern{lattice, sites_of(pass.frames.frame(position), lattice, study.profile, window), {}};
    for (std::size_t kernel = 0; kernel < all_kernels.size(); ++kernel)
      place_disks(pass.vectors[kernel], position, window.tolerance, pattern, pattern.found[kernel],
                  study.trials[kernel]);
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
  const Index sample = std::min(patterns, dataset.positions());
  std::vector<Index> positions;
  for (Index i = 0; i < sample; ++i) positions.push_back(spread_sample(i, sample, dataset.positions()));
  const Reservation room = budget.reserve(
      sizeof(float) * static_cast<std::size_t>(sample * shape[2] * shape[3]) +
          all_kernels.size() * BraggDisks::most_bytes(sample, options.max_num_peaks),
      "patterns of the kernel study", "give fewer, " + setting("kernel_study", "N") + ", or more " + setting("memory"));
  const BraggSearch search = choose_search(dataset, probe, options);
  const StudyPass pass = read_sample(dataset, probe, search, positions);
  const StrainResult lattices = sample_lattices(pass.vectors[static_cast<std::size_t>(options.kernel)], sample, budget);
  const StudyWindow window = study_window(probe, search, lattices);

  KernelStudy study;
  study.patterns = sample;
  study.counted = !is_float(dataset.dtype());
  for (const KernelShape kernel : all_kernels) study.trials.push_back({.kernel = kernel});
  study.profile = profile_of(pass, lattices, probe, window.reach);
  const std::vector<StudiedPattern> studied = place_all(pass, lattices, window, study);
  for (KernelTrial& trial : study.trials)
    if (2 * trial.missed > study.sites) trial.over_bound = nowhere;

  std::vector<Deviations> deviations(all_kernels.size());
  std::vector<double> bounds, counts;
  const LatticeFitOptions fit{
      .max_peak_spacing = window.tolerance, .min_num_peaks = 5, .weights = PeakWeight::variance, .robust = true};
  for (const StudiedPattern& pattern : studied) {
    const std::vector<SiteIndex> common = common_sites(pattern, study.trials);
    for (const SiteIndex& at : common) {
      const CountedDisk& disk = pattern.sites.at(at).disk;
      bounds.push_back(std::hypot(disk.bound_y, disk.bound_x) / std::sqrt(2.0));
      counts.push_back(disk.counts);
    }
    for (std::size_t kernel = 0; kernel < all_kernels.size(); ++kernel)
      if (study.trials[kernel].compared())
        add_deviations(pattern, common, pass.vectors[kernel], pattern.found[kernel], fit, study.trials[kernel],
                       deviations[kernel]);
  }
  study.disks = static_cast<Index>(bounds.size());
  for (std::size_t kernel = 0; kernel < all_kernels.size(); ++kernel) {
    KernelTrial& trial = study.trials[kernel];
    if (!trial.compared()) continue;
    const Deviations& of = deviations[kernel];
    trial.over_bound = of.free > 0 ? std::sqrt(of.squares / of.free) : nowhere;
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
