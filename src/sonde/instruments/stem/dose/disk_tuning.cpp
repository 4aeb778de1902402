// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/disk_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/dose/study_sites.h"

namespace sonde::stem {
namespace {

constexpr int most_rounds_of_tuning = 3;
constexpr double as_good = 1.01;  // a hundredth of the error is no reason for more false disks
constexpr double thresholds[] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2};
constexpr double spacings_in_radii[] = {1, 1.25, 1.5, 2};

/// A pattern of the sample with its lattice and what its counts allow.
struct TunedPattern {
  Index position = 0;
  LatticeFit lattice;
  std::map<SiteIndex, Site> sites;
  double allowed = 0;  // squared error of strain
};

double squared_error(const LatticeFit& fit, const Basis& reference) {
  const Strain sigma = strain_sigma(fit.basis, fit.covariance, reference, StrainMeasure::biot);
  return (sigma.xx * sigma.xx + sigma.yy * sigma.yy) / 2;
}

bool has_trench(KernelShape kernel) {
  return kernel == KernelShape::ring || kernel == KernelShape::sigmoid || kernel == KernelShape::sigmoid_log;
}

/// One of the values that a setting may have.
struct Candidate {
  std::string value;
  BraggOptions options;
};

class Tuner {
 public:
  Tuner(const Dataset& dataset, const Probe& probe, const BraggOptions& options, std::vector<Index> positions,
        Budget budget)
      : dataset_(&dataset),
        probe_(&probe),
        positions_(std::move(positions)),
        frames_(sample(), dataset.shape()[2], dataset.shape()[3]) {
    find_lattices(options, budget);
  }

  [[nodiscard]] Index sample() const { return static_cast<Index>(positions_.size()); }
  [[nodiscard]] const std::vector<TunedPattern>& patterns() const { return patterns_; }

  /// Finds the disks of the sample with each candidate, in one reading.
  [[nodiscard]] std::vector<TuningTrial> try_all(const std::vector<Candidate>& candidates) const {
    std::vector<StudySearch> searches;
    for (const Candidate& candidate : candidates) searches.push_back(search_of(candidate.options));
    const std::vector<BraggVectors> found =
        find_in_sample(*dataset_, *probe_, searches, positions_, "tuning of the search for disks", nullptr);
    std::vector<TuningTrial> trials;
    for (std::size_t i = 0; i < candidates.size(); ++i) trials.push_back(judged(candidates[i].value, found[i]));
    return trials;
  }

 private:
  [[nodiscard]] StudySearch search_of(const BraggOptions& options) const {
    const BraggSearch search = choose_search(*dataset_, *probe_, options);
    return {search.kernel, search.disks};
  }

  /// Lattices of the disks of the options; where these have none, of brighter disks.
  void find_lattices(BraggOptions options, Budget budget) {
    std::optional<Error> first;
    for (const double least : {options.min_relative_intensity, 0.02, 0.1, 0.3}) {
      if (least < options.min_relative_intensity) continue;
      options.min_relative_intensity = least;
      const BraggSearch search = choose_search(*dataset_, *probe_, options);
      const std::vector<StudySearch> one{{search.kernel, search.disks}};
      const BraggVectors found =
          std::move(find_in_sample(*dataset_, *probe_, one, positions_, "patterns of the tuning", &frames_)[0]);
      try {
        const StrainResult lattices = sample_lattices(found, sample(), "tuning", "tune", budget);
        take_lattices(lattices, search, found);
        return;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::bad_input) throw;
        if (!first) first = error;
      }
    }
    throw *first;
  }

  void take_lattices(const StrainResult& lattices, const BraggSearch& search, const BraggVectors& found) {
    const StudyWindow window = study_window(*probe_, search, lattices);
    const DiskProfile profile = profile_of(frames_, lattices, *probe_, window.reach);
    tolerance_ = window.tolerance;
    reference_ = lattices.reference;
    for (Index position = 0; position < sample(); ++position) {
      const LatticeFit& lattice = lattices.fits[static_cast<std::size_t>(position)];
      if (lattice.outcome != FitOutcome::fitted) continue;
      TunedPattern pattern{position, lattice, sites_of(frames_.frame(position), lattice, profile, window), 0};
      FoundAt at;
      (void)put_on_sites(found, position, tolerance_, lattice, pattern.sites, at);
      std::vector<SiteIndex> there;
      for (const auto& [site, disk] : at)
        if (!pattern.sites.at(site).empty()) there.push_back(site);
      const LatticeFit made = fit_by_bounds(lattice, pattern.sites, there, found, at, tolerance_);
      if (made.outcome != FitOutcome::fitted || !(made.over_sigma > 0)) continue;
      pattern.allowed = squared_error(made, reference_) / (made.over_sigma * made.over_sigma);
      patterns_.push_back(std::move(pattern));
    }
    if (patterns_.empty())
      throw Error(ErrorKind::bad_input,
                  fmt::format("the {} patterns of the tuning have too few disks on a lattice", sample()))
          .hint("give more patterns, " + setting("tune", "N"));
  }

  [[nodiscard]] TuningTrial judged(const std::string& value, const BraggVectors& found) const {
    TuningTrial trial{.value = value};
    const StrainOptions usual;
    const LatticeFitOptions fit{.max_peak_spacing = tolerance_,
                                .min_num_peaks = usual.min_num_peaks,
                                .weights = usual.weights,
                                .robust = usual.robust};
    double ratios = 0, fitted = 0;
    for (const TunedPattern& pattern : patterns_) {
      FoundAt at;
      const DiskTally tally = put_on_sites(found, pattern.position, tolerance_, pattern.lattice, pattern.sites, at);
      trial.detections += tally.detections;
      trial.spurious += tally.spurious;
      trial.missed += tally.missed;
      const LatticeFit made = fit_lattice(peaks_of(found, pattern.position), pattern.lattice.q0_x, pattern.lattice.q0_y,
                                          pattern.lattice.basis, fit);
      if (made.outcome != FitOutcome::fitted) {
        ++trial.without;
        continue;
      }
      ratios += squared_error(made, reference_) / pattern.allowed;
      ++fitted;
    }
    if (fitted > 0) trial.over_bound = std::sqrt(ratios / fitted);
    return trial;
  }

  const Dataset* dataset_;
  const Probe* probe_;
  std::vector<Index> positions_;
  KeptFrames frames_;
  std::vector<TunedPattern> patterns_;
  double tolerance_ = 0;
  Basis reference_{};
};

/// The values of a setting, that of `now` among them. Empty: it changes nothing.
std::vector<Candidate> candidates_of(std::string_view key, const BraggOptions& now, const Probe& probe) {
  std::vector<Candidate> made;
  const auto add = [&](std::string value, const std::function<void(BraggOptions&)>& set) {
    for (const Candidate& other : made)
      if (other.value == value) return;
    made.push_back({std::move(value), now});
    set(made.back().options);
  };
  if (key == "min_relative_intensity") {
    std::vector<double> values(std::begin(thresholds), std::end(thresholds));
    values.push_back(now.min_relative_intensity);
    std::sort(values.begin(), values.end());
    for (const double value : values)
      add(fmt::format("{}", value), [&](BraggOptions& o) { o.min_relative_intensity = value; });
  } else if (key == "kernel") {
    for (int i = 0; i <= static_cast<int>(KernelShape::poisson); ++i) {
      const auto kernel = static_cast<KernelShape>(i);
      add(std::string(name(kernel)), [&](BraggOptions& o) { o.kernel = kernel; });
    }
  } else if (key == "background" && now.subpixel != Refinement::mle) {
    for (int i = 0; i <= static_cast<int>(PatternBackground::dog); ++i) {
      const auto background = static_cast<PatternBackground>(i);
      add(std::string(name(background)), [&](BraggOptions& o) {
        o.background = background;
        if (background != PatternBackground::dog) o.background_sigma.reset();
      });
    }
  } else if (key == "kernel_outer" && has_trench(now.kernel)) {
    add(now.kernel_outer ? fmt::format("{:.4g}", *now.kernel_outer) : "auto", [](BraggOptions&) {});
    const double inner = now.kernel_inner.value_or(probe.radius);
    for (const double wider : {std::max(1.0, probe.radius / 4), std::max(1.0, probe.radius / 2), probe.radius}) {
      const std::string value = fmt::format("{:.4g}", inner + wider);
      add(value, [&](BraggOptions& o) { o.kernel_outer = std::stod(value); });
    }
    add("auto", [](BraggOptions& o) { o.kernel_outer.reset(); });
  } else if (key == "min_peak_spacing") {
    add(now.min_peak_spacing ? fmt::format("{:.4g}", *now.min_peak_spacing) : "auto", [](BraggOptions&) {});
    for (const double radii : spacings_in_radii) {
      if (radii == 1.5 && !now.min_peak_spacing) continue;  // auto
      const std::string value = fmt::format("{:.4g}", radii * probe.radius);
      add(value, [&](BraggOptions& o) { o.min_peak_spacing = std::stod(value); });
    }
  }
  return made;
}

std::string value_now(std::string_view key, const BraggOptions& now) {
  if (key == "min_relative_intensity") return fmt::format("{}", now.min_relative_intensity);
  if (key == "kernel") return std::string(name(now.kernel));
  if (key == "background") return std::string(name(now.background));
  if (key == "kernel_outer") return now.kernel_outer ? fmt::format("{:.4g}", *now.kernel_outer) : "auto";
  return now.min_peak_spacing ? fmt::format("{:.4g}", *now.min_peak_spacing) : "auto";
}

/// Chooses among the trials of a setting, and says why.
void choose(TunedSetting& of, Index patterns) {
  Index fewest_without = patterns;
  for (const TuningTrial& trial : of.trials) fewest_without = std::min(fewest_without, trial.without);
  const auto possible = [&](const TuningTrial& trial) {
    return !std::isnan(trial.over_bound) && trial.without <= fewest_without + patterns / 100;
  };
  double best = std::numeric_limits<double>::infinity();
  for (const TuningTrial& trial : of.trials)
    if (possible(trial)) best = std::min(best, trial.over_bound);
  of.chosen = of.before;
  const auto wrong = [&](std::size_t i) { return of.trials[i].spurious + of.trials[i].missed; };
  const auto good = [&](std::size_t i) { return possible(of.trials[i]) && of.trials[i].over_bound <= as_good * best; };
  for (std::size_t i = 0; i < of.trials.size(); ++i)
    if (good(i) && (!good(of.chosen) || wrong(i) < wrong(of.chosen))) of.chosen = i;
  const TuningTrial &now = of.trials[of.chosen], &then = of.trials[of.before];
  const auto alike = std::count_if(of.trials.begin(), of.trials.end(), [&](const TuningTrial& trial) {
    return possible(trial) && trial.over_bound <= as_good * best;
  });
  if (of.chosen == of.before)
    of.because = alike > 1 ? fmt::format(
                                 "the error is {:.2f} times that of the bound; no other value is better by 1 % "
                                 "or has fewer disks that are spurious or missed",
                                 now.over_bound)
                           : fmt::format("the error is {:.2f} times that of the bound, the least", now.over_bound);
  else if (then.without > now.without + patterns / 100 || std::isnan(then.over_bound))
    of.because = fmt::format("{} patterns have no lattice, in place of {} with {}", now.without, then.without,
                             setting(of.key, then.value));
  else if (then.over_bound > as_good * best)
    of.because = fmt::format("the error is {:.2f} times that of the bound, in place of {:.2f} with {}", now.over_bound,
                             then.over_bound, setting(of.key, then.value));
  else
    of.because = fmt::format("{} disks are spurious or missed, in place of {} with {}, at the same error",
                             now.spurious + now.missed, then.spurious + then.missed, setting(of.key, then.value));
}

}  // namespace

double DiskTuning::over_bound() const {
  return settings.empty() ? std::numeric_limits<double>::quiet_NaN()
                          : settings.back().trials[settings.back().chosen].over_bound;
}

DiskTuning tune_disks(const Dataset& dataset, const Probe& probe, const BraggOptions& options, Index patterns,
                      Budget budget) {
  const Shape shape = dataset.shape();
  std::vector<Index> positions = sample_positions(dataset, patterns);
  const auto sample = static_cast<Index>(positions.size());
  constexpr std::size_t most_candidates = 8;
  const Reservation room = budget.reserve(sizeof(float) * static_cast<std::size_t>(sample * shape[2] * shape[3]) +
                                              most_candidates * BraggDisks::most_bytes(sample, options.max_num_peaks),
                                          "patterns of the tuning",
                                          "give fewer, " + setting("tune", "N") + ", or more " + setting("memory"));
  const Tuner tuner(dataset, probe, options, std::move(positions), budget);
  DiskTuning tuning;
  tuning.patterns = sample;
  tuning.with_lattice = static_cast<Index>(tuner.patterns().size());
  tuning.options = options;
  double allowed = 0;
  for (const TunedPattern& pattern : tuner.patterns()) allowed += pattern.allowed;
  tuning.bound = std::sqrt(allowed / static_cast<double>(tuning.with_lattice));
  bool changed = true;
  for (int round = 0; changed && round < most_rounds_of_tuning; ++round) {
    changed = false;
    std::vector<TunedSetting> tuned;
    for (const char* key : {"min_relative_intensity", "kernel", "background", "kernel_outer", "min_peak_spacing"}) {
      const std::vector<Candidate> candidates = candidates_of(key, tuning.options, probe);
      if (candidates.empty()) continue;
      TunedSetting of{.key = key, .trials = tuner.try_all(candidates), .because = {}};
      const std::string now = value_now(key, tuning.options);
      while (of.trials[of.before].value != now) ++of.before;
      choose(of, tuning.with_lattice);
      changed = changed || of.chosen != of.before;
      tuning.options = candidates[of.chosen].options;
      tuned.push_back(std::move(of));
    }
    if (round == 0) {
      tuning.settings = std::move(tuned);
      continue;
    }
    // What was there at first, and why it was changed, is worth more than that nothing changes any more.
    for (TunedSetting& now : tuned)
      for (const TunedSetting& then : tuning.settings) {
        if (then.key != now.key) continue;
        if (now.chosen == now.before && then.chosen != then.before) now.because = then.because;
        for (std::size_t i = 0; i < now.trials.size(); ++i)
          if (now.trials[i].value == then.trials[then.before].value) now.before = i;
      }
    tuning.settings = std::move(tuned);
  }
  if (tuning.over_bound() > 1.5)
    tuning.warnings.push_back(fmt::format(
        "even with the settings that are chosen the error of strain is {:.1f} times what the counts allow: disks may "
        "overlap, be unevenly filled, or not be on one lattice",
        tuning.over_bound()));
  if (tuning.over_bound() < 0.9)
    tuning.warnings.push_back(fmt::format(
        "the error of strain is {:.2f} times what the counts seem to allow: so few counts do not show the edge of the "
        "disks, from which the bound follows; what is chosen does not depend on it",
        tuning.over_bound()));
  const TuningTrial& last = tuning.settings.back().trials[tuning.settings.back().chosen];
  if (10 * last.without > tuning.with_lattice)
    tuning.warnings.push_back(fmt::format("{} of {} patterns have no lattice with the settings that are chosen",
                                          last.without, tuning.with_lattice));
  return tuning;
}

}  // namespace sonde::stem
