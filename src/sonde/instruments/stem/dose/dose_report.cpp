// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/dose_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/report/spread.h"
#include "sonde/instruments/stem/dose/flat_noise.h"
#include "sonde/instruments/stem/dose/half_dose.h"
#include "sonde/instruments/stem/dose/study_sites.h"
#include "sonde/instruments/stem/load/visit_frames.h"

namespace sonde::stem {
namespace {

constexpr double mad_to_sigma = 1.4826;
constexpr Index fewest_disks = 10;
// Disks of the whole pattern, of its first half and of its second one.
constexpr std::size_t whole = 0, first = 1, second = 2;
constexpr std::array parts = {DosePart::whole, DosePart::first_half, DosePart::second_half};

constexpr std::array<double Strain::*, 4> components = {&Strain::xx, &Strain::yy, &Strain::xy, &Strain::theta};

struct DosePass {
  KeptFrames frames;
  std::array<BraggVectors, parts.size()> vectors;
  double not_counts = 0;
};

DosePass read_halves(const Dataset& dataset, const Probe& probe, const BraggSearch& search, double gain,
                     const std::vector<Index>& positions) {
  const Shape shape = dataset.shape();
  // Of electrons, to whose number a correlation is proportional.
  DiskSettings of_electrons = search.disks;
  of_electrons.gain = 1;
  of_electrons.min_absolute_intensity /= gain;
  DiskSettings of_halves = of_electrons;
  of_halves.min_absolute_intensity /= 2;
  const auto plan = [&](const DiskSettings& settings) {
    return BraggPlan::prepare(shape[2], shape[3], probe, search.kernel, settings, dataset.good());
  };
  const BraggPlan of_whole = plan(of_electrons), of_half = plan(of_halves);
  DosePass pass{KeptFrames(static_cast<Index>(positions.size()), shape[2], shape[3], gain), {}, 0};
  std::vector<PartialDoseDisks> disks;
  for (const DosePart part : parts)
    disks.emplace_back(part == DosePart::whole ? of_whole : of_half, part, gain, positions);
  std::vector<Operation*> operations{&pass.frames};
  for (PartialDoseDisks& each : disks) operations.push_back(&each);
  visit_frames(dataset, "dose report", operations, positions);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    disks[part].vectors().probe_radius = probe.radius;
    pass.vectors[part] = std::move(disks[part].vectors());
  }
  pass.not_counts = disks[whole].not_counts();
  return pass;
}

void require_whole_numbers(const Dataset& dataset, const DosePass& pass, const BraggOptions& options) {
  // A gain that is given turns values into whole numbers; their noise is looked at below.
  if (!is_float(dataset.dtype()) || options.gain != 1 || pass.not_counts == 0) return;
  throw Error(ErrorKind::bad_input,
              fmt::format("{}: {:.3g} % of the values are not whole numbers of electrons; a dose report needs counts",
                          dataset.acquisition().path, 100 * pass.not_counts))
      .hint("give the units of the detector for one electron, " + setting("gain", "G") +
            ", or the counts before they were scaled, smoothed or interpolated");
}

/// Pixels between the disks of a lattice, or those inside the disks that are there: 1.
std::vector<std::uint8_t> flat_pixels(const Dataset& dataset, const LatticeFit& lattice,
                                      const std::map<SiteIndex, Site>& sites, const DiskProfile& profile, bool inside) {
  const Index rows = dataset.shape()[2], cols = dataset.shape()[3];
  std::vector<std::uint8_t> flat(static_cast<std::size_t>(rows * cols), inside ? 0 : 1);
  const auto mark = [&](double y, double x, double reach) {
    for (auto row = std::max<Index>(0, static_cast<Index>(std::ceil(y - reach)));
         row < rows && static_cast<double>(row) <= y + reach; ++row)
      for (auto col = std::max<Index>(0, static_cast<Index>(std::ceil(x - reach)));
           col < cols && static_cast<double>(col) <= x + reach; ++col)
        if (std::hypot(static_cast<double>(row) - y, static_cast<double>(col) - x) <= reach)
          flat[static_cast<std::size_t>(row * cols + col)] = inside ? 1 : 0;
  };
  if (inside) {
    // As far as a disk has risen to exp(-3) below its height.
    const double within = profile.radius - 3 * profile.edge - 1;
    for (const auto& [at, site] : sites)
      if (site.there() && within > 0) mark(site.y, site.x, within);
  } else {
    double highest = 0;
    for (const auto& [at, site] : sites) highest = std::max(highest, site.disk.height);
    for_each_site(lattice, rows, cols, [&](Index h, Index k, double y, double x) {
      const auto site = sites.find({h, k});
      const double height =
          site == sites.end() ? highest : site->second.disk.height + 3 * site->second.disk.height_sigma;
      // Where the tail of the disk has fallen to a third of a count, whose bend is less than its noise.
      mark(y, x, profile.radius + 0.5 + profile.edge * (1 + std::log1p(height)));
    });
  }
  for (std::size_t i = 0; i < flat.size(); ++i)
    if (dataset.good()[i] == 0) flat[i] = 0;
  return flat;
}

/// A pattern with its lattice, and where its disks are in the three parts.
struct DosePattern {
  Index position = 0;
  LatticeFit lattice;
  std::map<SiteIndex, Site> sites;
  std::array<FoundAt, parts.size()> found;
};

std::vector<DosePattern> place_disks(const DosePass& pass, const StrainResult& lattices, const StudyWindow& window,
                                     const DiskProfile& profile) {
  std::vector<DosePattern> patterns;
  for (Index position = 0; position < lattices.positions(); ++position) {
    const LatticeFit& lattice = lattices.fits[static_cast<std::size_t>(position)];
    if (lattice.outcome != FitOutcome::fitted) continue;
    DosePattern pattern{position, lattice, sites_of(pass.frames.frame(position), lattice, profile, window), {}};
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const BraggVectors& vectors = pass.vectors[part];
      for (auto i = static_cast<std::size_t>(vectors.first(position));
           i < static_cast<std::size_t>(vectors.last(position)); ++i)
        if (const auto at = site_of(lattice, static_cast<double>(vectors.qy[i]), static_cast<double>(vectors.qx[i]),
                                    window.tolerance))
          pattern.found[part].emplace(*at, i);  // the brightest comes first
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

void check_noise(const Dataset& dataset, const DosePass& pass, const std::vector<DosePattern>& patterns,
                 const BraggOptions& options, DoseReport& report) {
  FlatNoise noise;
  for (const bool inside : {false, true}) {
    noise = {};
    for (const DosePattern& pattern : patterns)
      noise.add(pass.frames.frame(pattern.position),
                flat_pixels(dataset, pattern.lattice, pattern.sites, report.profile, inside));
    report.noise_in_disks = inside;
    if (noise.known()) break;
  }
  if (!noise.known()) {
    report.warnings.push_back(
        "neither the background nor the inside of disks has counts enough to show that their variance is their mean: "
        "values are taken for electrons");
    return;
  }
  report.noise = Measured{noise.ratio(), noise.sigma()};
  if (!noise.not_poisson()) return;
  const std::string where = report.noise_in_disks ? "inside the disks" : "of the background between the disks";
  Error error(ErrorKind::bad_input,
              fmt::format("{}: the variance of the counts {} is {:.2f}+-{:.2f} times their mean; expected 0.8 to 1.2, "
                          "as electrons have that are counted",
                          dataset.acquisition().path, where, noise.ratio(), noise.sigma()));
  if (noise.ratio() > 1)
    throw error.hint(
        fmt::format("give the units of the detector for one electron where they are known, {}; noise of "
                    "the read-out or a structure of the background cannot be divided into halves",
                    setting("gain", fmt::format("{:.3g}", noise.ratio() * options.gain))));
  throw error.hint("neighbouring pixels are smoothed, interpolated or compressed, or the gain is smaller than " +
                   setting("gain", fmt::format("{:g}", options.gain)) + ": give the counts of the detector");
}

/// A disk that the whole pattern and both halves have: half the difference of the halves, its bound and stated errors.
struct DiskPair {
  double y = 0, x = 0;
  double bound_y = 0, bound_x = 0;
  double stated_y = 0, stated_x = 0;
  double counts = 0;

  [[nodiscard]] double farthest() const { return std::max(std::abs(y) / bound_y, std::abs(x) / bound_x); }
};

/// Disks that would be sure with half the electrons.
bool sure_in_half(const Site& site) {
  return site.disk.height > Site::surely_there * std::sqrt(2.0) * site.disk.height_sigma;
}

std::vector<DiskPair> pair_disks(const DosePass& pass, std::vector<DosePattern>& patterns, DoseReport& report) {
  std::vector<DiskPair> pairs;
  for (DosePattern& pattern : patterns)
    for (const auto& [at, site] : pattern.sites) {
      if (!sure_in_half(site)) continue;
      ++report.sites;
      std::array<std::size_t, parts.size()> disk{};
      bool everywhere = true;
      for (std::size_t part = 0; part < parts.size(); ++part) {
        const auto found = pattern.found[part].find(at);
        everywhere = everywhere && found != pattern.found[part].end();
        if (everywhere) disk[part] = found->second;
      }
      if (!everywhere) {
        ++report.missed;
        continue;
      }
      const BraggVectors &a = pass.vectors[first], &b = pass.vectors[second], &all = pass.vectors[whole];
      DiskPair pair{
          .y = 0.5 * (static_cast<double>(a.qy[disk[first]]) - static_cast<double>(b.qy[disk[second]])),
          .x = 0.5 * (static_cast<double>(a.qx[disk[first]]) - static_cast<double>(b.qx[disk[second]])),
          .bound_y = site.disk.bound_y,
          .bound_x = site.disk.bound_x,
          .counts = site.disk.counts,
      };
      if (all.has_variance()) {
        pair.stated_y = std::sqrt(static_cast<double>(all.var_y[disk[whole]]));
        pair.stated_x = std::sqrt(static_cast<double>(all.var_x[disk[whole]]));
      }
      pairs.push_back(pair);
    }
  return pairs;
}

/// Takes out what is beyond six times the scatter that the median shows: of normal noise one in 10^9.
void remove_misplaced(std::vector<DiskPair>& pairs, DoseReport& report) {
  constexpr double beyond = 6;
  std::vector<double> distances;
  for (const DiskPair& pair : pairs)
    distances.insert(distances.end(), {std::abs(pair.y) / pair.bound_y, std::abs(pair.x) / pair.bound_x});
  const double limit = beyond * mad_to_sigma * median(std::move(distances));
  report.misplaced =
      static_cast<Index>(std::erase_if(pairs, [&](const DiskPair& pair) { return pair.farthest() > limit; }));
}

/// The rms of `numbers` normal deviates, and its standard error.
Measured rms_of(double squares, double numbers) {
  const double rms = std::sqrt(squares / numbers);
  return {rms, rms / std::sqrt(2 * numbers)};
}

void measure_places(const std::vector<DiskPair>& pairs, DoseReport& report) {
  std::vector<double> bounds, counts;
  double over_bound = 0, over_stated = 0;
  Index stated = 0;
  for (const DiskPair& pair : pairs) {
    bounds.push_back(std::hypot(pair.bound_y, pair.bound_x) / std::sqrt(2.0));
    counts.push_back(pair.counts);
    over_bound += std::pow(pair.y / pair.bound_y, 2) + std::pow(pair.x / pair.bound_x, 2);
    if (!(pair.stated_y > 0) || !(pair.stated_x > 0)) continue;
    over_stated += std::pow(pair.y / pair.stated_y, 2) + std::pow(pair.x / pair.stated_x, 2);
    ++stated;
  }
  report.disks = static_cast<Index>(pairs.size());
  report.bound = median(bounds);
  report.counts = median(counts);
  report.over_bound = rms_of(over_bound, 2 * static_cast<double>(pairs.size()));
  if (stated >= fewest_disks) report.over_stated = rms_of(over_stated, 2 * static_cast<double>(stated));
}

void measure_lattices(const DosePass& pass, const std::vector<DosePattern>& patterns, const StudyWindow& window,
                      const Basis& reference, DoseReport& report) {
  Deviations deviations;
  std::array<std::vector<double>, components.size()> allowed;
  for (const DosePattern& pattern : patterns) {
    std::vector<SiteIndex> sure;
    for (const auto& [at, site] : pattern.sites)
      if (sure_in_half(site) && pattern.found[whole].contains(at)) sure.push_back(at);
    const LatticeFit made = fit_by_bounds(pattern.lattice, pattern.sites, sure, pass.vectors[whole],
                                          pattern.found[whole], window.tolerance);
    if (made.outcome != FitOutcome::fitted || !(made.over_sigma > 0)) continue;
    deviations.add(made);
    // Its covariance is in units of the residuals.
    const Strain sigma = strain_sigma(made.basis, made.covariance, reference, StrainMeasure::biot);
    for (std::size_t c = 0; c < components.size(); ++c) allowed[c].push_back(sigma.*components[c] / made.over_sigma);
  }
  report.lattice_over_bound = {deviations.rms(), deviations.rms() / std::sqrt(2 * deviations.free)};
  for (std::size_t c = 0; c < components.size(); ++c)
    if (!allowed[c].empty()) report.strain_bound.*components[c] = median(std::move(allowed[c]));
}

/// Strain of both halves, fitted as `stem strain` does.
void measure_strain(const DosePass& pass, const std::vector<DosePattern>& patterns, double tolerance,
                    const Basis& reference, DoseReport& report) {
  const StrainOptions usual;
  const LatticeFitOptions fit{.max_peak_spacing = tolerance,
                              .min_num_peaks = usual.min_num_peaks,
                              .weights = usual.weights,
                              .robust = usual.robust};
  Strain squares;
  for (const DosePattern& pattern : patterns) {
    const auto strain = [&](std::size_t part) -> std::optional<Strain> {
      const LatticeFit made = fit_lattice(peaks_of(pass.vectors[part], pattern.position), pattern.lattice.q0_x,
                                          pattern.lattice.q0_y, pattern.lattice.basis, fit);
      if (made.outcome != FitOutcome::fitted) return std::nullopt;
      return strain_of(made.basis, reference, usual.measure);
    };
    const auto a = strain(first), b = strain(second);
    if (!a || !b) continue;
    ++report.strained;
    for (const auto c : components) squares.*c += std::pow(0.5 * (*a.*c - *b.*c), 2);
  }
  for (const auto c : components) report.strain.*c = std::sqrt(squares.*c / static_cast<double>(report.strained));
}

void doubt(DoseReport& report) {
  // Three standard errors, and more than the terms that a formula of first order leaves out.
  const auto differs = [](const Measured& ratio) {
    return std::abs(ratio.value - 1) > std::max(0.05, 3 * ratio.sigma);
  };
  if (report.over_stated && differs(*report.over_stated))
    report.warnings.push_back(
        fmt::format("places scatter {:.2f}+-{:.2f} times as much as the standard errors that are stated for them: "
                    "errors that follow from these are {} by as much",
                    report.over_stated->value, report.over_stated->sigma,
                    report.over_stated->value > 1 ? "too small" : "too large"));
  if (report.systematic() > 0)
    report.warnings.push_back(
        fmt::format("disks are {:.3f} px from the lattice of their pattern beyond what the counts explain: disks may "
                    "overlap, be unevenly filled, or not be on one lattice; more counts do not mend it",
                    report.systematic()));
  if (10 * (report.missed + report.misplaced) > report.sites)
    report.warnings.push_back(fmt::format(
        "{} of {} disks that have counts are not found, or found elsewhere, with half the dose: strain of more than "
        "this dose is less certain than stated; try {} or a smaller {}",
        report.missed + report.misplaced, report.sites, setting("kernel", "poisson"),
        setting("min_relative_intensity")));
}

}  // namespace

double DoseReport::systematic() const {
  const double more = lattice_over_bound.value / over_bound.value;
  const double error =
      more * std::hypot(lattice_over_bound.sigma / lattice_over_bound.value, over_bound.sigma / over_bound.value);
  // Nor where there is no lattice to compare with.
  if (!(more > 1 + std::max(0.1, 3 * error))) return 0;
  return scatter() * std::sqrt(more * more - 1);
}

double DoseReport::counts_for(double wanted) const {
  return counts * (strain.xx * strain.xx + strain.yy * strain.yy) / (2 * wanted * wanted);
}

DoseReport report_dose(const Dataset& dataset, const Probe& probe, const BraggOptions& options, Index patterns,
                       Budget budget) {
  const Shape shape = dataset.shape();
  const std::vector<Index> positions = sample_positions(dataset, patterns);
  const auto sample = static_cast<Index>(positions.size());
  const Reservation room = budget.reserve(
      sizeof(float) * static_cast<std::size_t>(sample * shape[2] * shape[3]) +
          parts.size() * BraggDisks::most_bytes(sample, options.max_num_peaks),
      "patterns of the dose report", "give fewer, " + setting("dose_report", "N") + ", or more " + setting("memory"));
  const BraggSearch search = choose_search(dataset, probe, options);
  const DosePass pass = read_halves(dataset, probe, search, options.gain, positions);
  require_whole_numbers(dataset, pass, options);
  const StrainResult lattices = sample_lattices(pass.vectors[whole], sample, "dose report", "dose_report", budget);
  const StudyWindow window = study_window(probe, search, lattices);

  DoseReport report;
  report.patterns = sample;
  report.with_lattice = lattices.fitted();
  report.gain = options.gain;
  report.profile = profile_of(pass.frames, lattices, probe, window.reach);
  std::vector<DosePattern> placed = place_disks(pass, lattices, window, report.profile);
  check_noise(dataset, pass, placed, options, report);
  std::vector<DiskPair> pairs = pair_disks(pass, placed, report);
  if (!pairs.empty()) remove_misplaced(pairs, report);
  if (static_cast<Index>(pairs.size()) < fewest_disks)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} of the {} patterns of the dose report have {} disks that both halves of the counts "
                            "show; expected {}",
                            report.with_lattice, sample, pairs.size(), fewest_disks))
        .hint("give more patterns, " + setting("dose_report", "N"));
  measure_places(pairs, report);
  measure_lattices(pass, placed, window, lattices.reference, report);
  measure_strain(pass, placed, window.tolerance, lattices.reference, report);
  report.strain_stated = lattices.median_sigma();
  doubt(report);
  return report;
}

}  // namespace sonde::stem
