// SPDX-License-Identifier: Apache-2.0
// The table of what may be wrong with a run that still works: a new finding is a function and a row here.
#include "sonde/instruments/ptycho/live/progress.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/quality/spectrum.h"
#include "sonde/instruments/ptycho/reconstruct/divergence_hint.h"

namespace sonde::ptycho {
namespace {

/// What the rows look at.
struct Progress {
  std::span<const IterationRecord> all, of_engine;
  double floor;
  Index positions;

  /// The median R_I of `count` iterations that end `back` before the last one, where there are so many.
  [[nodiscard]] std::optional<double> middle(std::size_t count, std::size_t back = 0) const {
    if (of_engine.size() < count + back) return std::nullopt;
    std::vector<double> values;
    for (const IterationRecord& record : of_engine.subspan(of_engine.size() - back - count, count))
      values.push_back(record.fit.r_intensity);
    return median(std::move(values));
  }
};

/// The larger of a ratio and its inverse.
double either_way(double ratio) { return std::max(ratio, 1 / ratio); }

/// As the stop rule does: medians of five, against the lowest of them.
std::optional<double> near_divergence(const Progress& run) {
  const std::optional<double> now = run.middle(5);
  if (!now) return std::nullopt;
  double best = *now;
  constexpr std::size_t far = 1000;  // iterations: that a long run takes no longer to judge
  for (std::size_t back = 1; back + 5 <= std::min(run.of_engine.size(), far); ++back)
    best = std::min(best, *run.middle(5, back));
  return *now / best;
}

std::optional<double> power_drift(const Progress& run) {
  constexpr std::size_t ten = 10;
  if (run.all.size() <= ten) return std::nullopt;
  return either_way(run.all.back().power_total / run.all[run.all.size() - 1 - ten].power_total);
}

std::optional<double> power_change(const Progress& run) { return either_way(run.all.back().power_total); }

/// Only where it does not fall any more by more than a hundredth in ten iterations: before, it says nothing.
std::optional<double> above_floor(const Progress& run) {
  const std::optional<double> now = run.middle(10), before = run.middle(10, 10);
  if (!now || !before || !(run.floor > 0) || *now < 0.99 * *before) return std::nullopt;
  return *now / run.floor;
}

std::optional<double> below_floor(const Progress& run) {
  if (!(run.floor > 0)) return std::nullopt;
  return run.floor / run.all.back().fit.r_intensity;
}

std::optional<double> over_fitting(const Progress& run) {
  const std::optional<double> now = run.all.back().r_free;
  if (!now) return std::nullopt;
  double lowest = *now;
  for (const IterationRecord& record : run.of_engine) lowest = std::min(lowest, record.r_free.value_or(lowest));
  return *now / lowest;
}

std::optional<double> positions_at_limit(const Progress& run) {
  const auto last = std::find_if(run.all.rbegin(), run.all.rend(),
                                 [](const IterationRecord& record) { return record.positions.has_value(); });
  if (last == run.all.rend() || run.positions == 0) return std::nullopt;
  return static_cast<double>(last->positions->at_limit) / static_cast<double>(run.positions);
}

struct Row {
  std::string_view name;
  std::optional<double> (*measure)(const Progress&);
  double threshold;  ///< a value above it is suspect
  std::string_view cause, fix;
};

// Thresholds of R_I, R_free and power are those by which a run is stopped, warned of and reported. Single positions run
// away without a fault; where more than one in twenty does, the limit is too narrow or the scan is another.
constexpr Row rows[] = {
    {"near_divergence", near_divergence, 1.02,
     "R_I is more than 2 % above the best of this engine: when it stays there the run ends as diverged",
     divergence_hint},
    {"power_drift", power_drift, 1.05, "ten iterations have changed the probe's power by more than 5 %",
     divergence_hint},
    {"power_change", power_change, 1.5, "the probe's power has changed by more than a half since the start",
     "hold it with the constraint probe_power, or shorten the steps"},
    {"above_floor", above_floor, 2, "R_I has settled at more than twice what counting noise leaves",
     "refine the positions, take more probe modes, check defocus, semiangle, pixel size and orientation"},
    {"below_floor", below_floor, 1 / over_fitted_ratio, "R_I is far below what counting noise allows: noise is fitted",
     "stop the run, or constrain more, for instance with tv"},
    {"over_fitting", over_fitting, 1.02, "R_free was lower before: later iterations fit noise",
     "stop the run, or constrain more, for instance with tv"},
    {"positions_at_limit", positions_at_limit, 0.05,
     "more than one position in twenty is at max_move_px, or at the edge of the object",
     "check step, rotation and transposition of the scan, or allow more by max_move_px"},
};

}  // namespace

std::vector<Diagnosis> diagnose_progress(const std::vector<IterationRecord>& history, double floor, Index positions) {
  std::vector<Diagnosis> diagnoses;
  if (history.empty()) return diagnoses;
  const auto first = std::find_if(history.begin(), history.end(), [&](const IterationRecord& record) {
    return record.engine == history.back().engine;
  });
  const Progress run{history, {first, history.end()}, floor, positions};
  for (const Row& row : rows)
    diagnoses.push_back(judged(row.name, row.measure(run), row.threshold, row.cause, row.fix));
  return diagnoses;
}

}  // namespace sonde::ptycho
