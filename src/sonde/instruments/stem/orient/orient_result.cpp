// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/orient_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/lattice/calibrated_disks.h"
#include "sonde/instruments/stem/lattice/disk_origins.h"
#include "sonde/instruments/stem/orient/orient_strain.h"
#include "sonde/instruments/stem/orient/q_pixel_fit.h"

namespace sonde::stem {
namespace {

constexpr double most_missing = 0.3;  // of the strength of lines; random grains miss up to 0.2
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Peaks of all positions, one list after another, without the direct disks.
struct PeakLists {
  std::vector<DiffractionPeak> peaks;
  std::vector<Index> first = {0};
};

PeakLists peaks_of(const BraggVectors& vectors, const DiskOrigins& origins, double q_pixel, double shortest) {
  PeakLists lists;
  for (Index position = 0; position < vectors.positions(); ++position) {
    const auto here = static_cast<std::size_t>(position);
    if (vectors.valid[here] != 0 && origins.measured.valid[here] != 0) {
      const Origin::At from = origins.at(position / vectors.scan_cols, position % vectors.scan_cols);
      for (auto i = static_cast<std::size_t>(vectors.first(position)); i < vectors.offsets[here + 1]; ++i) {
        const DiffractionPeak peak{(static_cast<double>(vectors.qx[i]) - from.x) * q_pixel,
                                   (static_cast<double>(vectors.qy[i]) - from.y) * q_pixel,
                                   std::max(0.0, static_cast<double>(vectors.intensity[i]))};
        if (std::hypot(peak.x, peak.y) > shortest / 2) lists.peaks.push_back(peak);
      }
    }
    lists.first.push_back(static_cast<Index>(lists.peaks.size()));
  }
  return lists;
}

/// The share of the peaks that are within half a kernel of a spot of any match.
double explained_share(const OrientationPlan& plan, const PatternMatch& found, std::span<const DiffractionPeak> peaks) {
  if (found.matches.empty() || peaks.empty()) return none;
  const double near = plan.options().corr_kernel_size / 2;
  std::vector<KinematicSpot> spots;
  for (const OrientationMatch& match : found.matches) {
    const auto more = kinematic_pattern(plan.reflections(), match.orientation, plan.beam());
    spots.insert(spots.end(), more.begin(), more.end());
  }
  const auto explained = std::count_if(peaks.begin(), peaks.end(), [&](const DiffractionPeak& peak) {
    return std::any_of(spots.begin(), spots.end(),
                       [&](const KinematicSpot& spot) { return std::hypot(spot.x - peak.x, spot.y - peak.y) < near; });
  });
  return static_cast<double>(explained) / static_cast<double>(peaks.size());
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return none;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Why several crystals explain too few disks: which of the causes it is, the distances of a mixture do not tell.
std::string cause_of_several(const OrientResult& result, double share) {
  return fmt::format(
      "the crystals explain {:.0f} % of the disks of a typical pattern: a crystal that is missing ({}), a wrong size "
      "of "
      "a pixel, {:.5g} 1/A ({}), or several crystals in a pattern ({})",
      100 * share, setting("crystal"), result.q_pixel, setting("q_pixel"), setting("matches"));
}

/// Why a crystal explains too few disks, as far as the distances of the disks tell.
std::string cause_of(const OrientResult& result, double share, const QPixelFit& fit) {
  const std::string fact =
      fmt::format("the crystal explains {:.0f} % of the disks of a typical pattern: ", 100 * share);
  if (!fit.refused.empty()) return fact + fmt::format("a wrong crystal ({}): {}", setting("crystal"), fit.refused);
  const bool few_lines = fit.missing > most_missing;
  if (std::abs(fit.value - result.q_pixel) < 0.02 * fit.value)
    return few_lines ? fact + fmt::format("a wrong crystal ({}), as lines with {:.0f} % of its strength have no disks",
                                          setting("crystal"), 100 * fit.missing)
                     : fact + fmt::format("several crystals in a pattern ({}), as most disks are on lines of this one",
                                          setting("matches"));
  return fact +
         fmt::format("{}a wrong size of a pixel, {:.5g} 1/A; with {:.5g} the disks are on the crystal's lines ({})",
                     few_lines ? "a wrong crystal, or " : "", result.q_pixel, fit.value, setting("q_pixel"));
}

/// Of the crystal on whose lines most disks are.
QPixelFit best_q_pixel(const OrientResult& result, const BraggVectors& vectors, const DiskOrigins& origins) {
  QPixelFit best;
  for (std::size_t k = 0; k < result.crystals(); ++k) {
    const OrientationPlan& plan = result.plan_of(k);
    QPixelFit fit = fit_q_pixel(vectors, origins, plan.crystal(), plan.beam());
    if (k == 0 || (fit.refused.empty() && (!best.refused.empty() || fit.share > best.share))) best = std::move(fit);
  }
  return best;
}

/// The size of a pixel that was given, or is in the file, or that the lines of the crystal give.
void choose_q_pixel(OrientResult& result, const BraggVectors& vectors, const DiskOrigins& origins,
                    const OrientOptions& options) {
  const auto chose = [&](double value, const std::string& because) {
    result.q_pixel = value;
    result.choices.push_back({fmt::format("pixel {:.5g} 1/A", value), because});
  };
  if (options.q_pixel) return chose(*options.q_pixel, "it was given");
  if (vectors.calibration.pixel_inv_a) return chose(*vectors.calibration.pixel_inv_a, "of the file");
  const QPixelFit fit = best_q_pixel(result, vectors, origins);
  if (!fit.refused.empty())
    throw Error(ErrorKind::bad_input, "the reciprocal size of a detector pixel is not known: " + fit.refused)
        .hint("give " + setting("q_pixel"));
  result.q_pixel_error = fit.standard_error;
  if (fit.missing > most_missing)
    result.warnings.push_back(fmt::format(
        "the size of a pixel was fitted, but lines with {:.0f} % of the crystal's strength have no disks: few "
        "grains, or another crystal, whose size would be wrong ({})",
        100 * fit.missing, setting("q_pixel")));
  chose(fit.value, fit.because());
}

/// Of several crystals each position keeps the matches of the one that explains it best.
void match_all(OrientResult& result, const PeakLists& lists, const OrientOptions& options) {
  if (result.other_plans.empty()) {
    result.matches = match_orientations(result.plan, lists.peaks, lists.first, options.match);
    return;
  }
  std::vector<const OrientationPlan*> plans;
  std::vector<std::vector<PatternMatch>> matches;
  for (std::size_t k = 0; k < result.crystals(); ++k) {
    plans.push_back(&result.plan_of(k));
    matches.push_back(match_orientations(*plans.back(), lists.peaks, lists.first, options.match));
  }
  PhaseMatches made = map_phases(plans, lists.peaks, lists.first, std::move(matches), options.phase_margin);
  result.phases = std::move(made.phases);
  result.matches = std::move(made.matches);
}

/// Those of each crystal, one after the other: positions of different crystals are in no grain together, and have no
/// boundary angle.
GrainMap grains_of(OrientResult& result, const GrainOptions& options) {
  if (!result.phases || options.angle <= 0)
    return find_grains(result.matches, result.scan_rows, result.scan_cols, result.plan.proper(), options);
  GrainMap all;
  const std::size_t positions = result.matches.size();
  all.grain.assign(positions, 0);
  all.from_mean.assign(positions, none);
  all.boundary.assign(positions, none);
  all.settled.assign(positions, Settled::one);
  for (std::size_t k = 0; k < result.crystals(); ++k) {
    std::vector<PatternMatch> own(positions);
    const auto is_own = [&](std::size_t i) { return result.phases->phase[i] == static_cast<std::int8_t>(k); };
    for (std::size_t i = 0; i < positions; ++i)
      if (is_own(i)) own[i] = std::move(result.matches[i]);
    const GrainMap map = find_grains(own, result.scan_rows, result.scan_cols, result.plan_of(k).proper(), options);
    for (std::size_t i = 0; i < positions; ++i) {
      if (!is_own(i)) continue;
      result.matches[i] = std::move(own[i]);
      all.grain[i] = map.grain[i] > 0 ? map.grain[i] + static_cast<std::int32_t>(all.grains.size()) : 0;
      all.from_mean[i] = map.from_mean[i];
      all.boundary[i] = map.boundary[i];
      all.settled[i] = map.settled[i];
    }
    for (Grain grain : map.grains) {
      grain.crystal = k;
      all.grains.push_back(grain);
    }
  }
  return all;
}

/// Of every position with an orientation, against the cell of its crystal.
void find_strain(OrientResult& result, const PeakLists& lists, const BraggCalibration& calibration,
                 const OrientOptions& options) {
  StrainResult strain;
  strain.scan_rows = result.scan_rows;
  strain.scan_cols = result.scan_cols;
  if (result.scan_step_row > 0 && result.scan_step_row == result.scan_step_col)
    strain.scan_step_nm = result.scan_step_col;
  strain.frame = frame_of(calibration, options.rotation, options.transpose);
  strain.reference = {1, 0, 0, 1};
  strain.reference_given = true;
  strain.max_peak_spacing = result.plan.options().corr_kernel_size / 2 / result.q_pixel;
  strain.fits.resize(result.matches.size());
  const LatticeFitOptions fit{.max_peak_spacing = strain.max_peak_spacing};
  parallel_for(result.positions(), 64, [&](Index from, Index to, Worker&) {
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
      strain.fits[i].outcome = FitOutcome::no_pattern;
      if (result.matches[i].matches.empty()) continue;
      const auto first = static_cast<std::size_t>(lists.first[i]), last = static_cast<std::size_t>(lists.first[i + 1]);
      strain.fits[i] = fit_deformation(result.plan_of(result.phase_at(i)), result.matches[i].matches[0].orientation,
                                       std::span(lists.peaks).subspan(first, last - first), result.q_pixel, fit);
    }
  });
  for (const LatticeFit& each : strain.fits) ++strain.outcomes[static_cast<std::size_t>(each.outcome)];
  compute_strain(strain);
  if (result.q_pixel_error)
    result.warnings.push_back(
        fmt::format("the size of a pixel was fitted to the crystal's lines, so that the mean strain is not seen ({})",
                    setting("q_pixel")));
  doubt_frame(strain.frame, calibration, options.transpose, result.warnings);
  if (strain.invalid_share() > 0.1)
    result.warnings.push_back(
        fmt::format("{:.0f} % of the oriented positions have no strain: fewer than {} disks are beside those of the "
                    "orientation, or all on one line",
                    100 * strain.invalid_share(), fit.min_num_peaks));
  result.strain = std::move(strain);
}

void warn(OrientResult& result, const BraggVectors& vectors, const DiskOrigins& origins) {
  if (result.matched() < result.positions())
    result.warnings.push_back(fmt::format("{} of {} positions have no orientation: too few disks within {:g} 1/A",
                                          result.positions() - result.matched(), result.positions(),
                                          result.plan.options().k_max));
  // Of patterns of another crystal or scale about half of the disks are near some reflection by chance.
  if (const double share = median(result.explained); share < 0.7)
    result.warnings.insert(
        result.warnings.begin(),
        result.phases
            ? cause_of_several(result, share)
            : cause_of(result, share, fit_q_pixel(vectors, origins, result.plan.crystal(), result.plan.beam())));
  if (result.phases)
    for (std::string& warning : result.phases->warnings()) result.warnings.push_back(std::move(warning));
  const Index two = result.grains.empty() ? result.ambiguous() : result.grains.count(Settled::open);
  if (two > 0)
    result.warnings.push_back(
        fmt::format("{} positions have two orientations that explain their pattern equally{}: see orientation/other",
                    two, result.grains.empty() ? "" : ", and neighbours that do not decide"));
}

}  // namespace

Index OrientResult::matched() const {
  return std::count_if(matches.begin(), matches.end(), [](const PatternMatch& each) { return !each.matches.empty(); });
}

Index OrientResult::ambiguous() const {
  return std::count_if(matches.begin(), matches.end(),
                       [](const PatternMatch& each) { return !each.matches.empty() && each.matches[0].other; });
}

double OrientResult::misorientation_error() const {
  std::vector<double> errors;
  for (const PatternMatch& each : matches)
    if (!each.matches.empty() && each.matches[0].refined)
      errors.push_back(each.matches[0].refined->standard_error() * 180 / std::numbers::pi);
  return median(std::move(errors));
}

OrientResult make_orient(BraggVectors vectors, const std::vector<Crystal>& crystals, const OrientOptions& options,
                         Budget budget) {
  if (crystals.empty() || crystals.size() > most_phases)
    throw Error(ErrorKind::usage, fmt::format("{} crystals; expected 1 to {}", crystals.size(), most_phases))
        .hint("repeat " + setting("crystal") + " for each of them");
  check_transpose(options.transpose, setting("transpose"));
  OrientResult result;
  vectors.calibration =
      without(std::move(vectors.calibration), parse_steps(options.skip_calibration, setting("skip_calibration")));
  if (!options.voltage && !vectors.calibration.high_tension_v)
    throw Error(ErrorKind::bad_input, "the accelerating voltage is not known").hint("give " + setting("voltage"));
  OrientationOptions of_plan = options.plan;
  of_plan.voltage = options.voltage.value_or(vectors.calibration.high_tension_v.value_or(0) / 1e3);
  result.plan = OrientationPlan::prepare(crystals.front(), of_plan);
  for (std::size_t k = 1; k < crystals.size(); ++k)
    result.other_plans.push_back(OrientationPlan::prepare(crystals[k], of_plan));
  result.scan_rows = vectors.scan_rows;
  result.scan_cols = vectors.scan_cols;
  result.scan_step_row = vectors.calibration.scan_step_row_nm.value_or(0);
  result.scan_step_col = vectors.calibration.scan_step_col_nm.value_or(0);
  result.most_matches = options.match.matches;
  result.refined = options.match.refine;
  const auto each = sizeof(PatternMatch) + static_cast<std::size_t>(options.match.matches) * sizeof(OrientationMatch);
  std::size_t of_plans = 0;
  for (std::size_t k = 0; k < result.crystals(); ++k) of_plans += result.plan_of(k).bytes();
  const Reservation room = budget.reserve(
      of_plans + static_cast<std::size_t>(vectors.disks()) * sizeof(DiffractionPeak) +
          static_cast<std::size_t>(vectors.positions()) *
              (result.crystals() * (each + sizeof(double)) + sizeof(double) +
               (options.strain ? sizeof(LatticeFit) + 2 * sizeof(Strain) : 0)) +
          (options.grains.angle > 0 ? grain_bytes(vectors.positions()) : 0),
      "orientations", "give a larger " + setting("angle_step_zone_axis") + " or more " + setting("memory"));
  const DiskOrigins origins = find_origins(vectors, options.origin, options.origin_fit);
  if (const auto ellipse = vectors.calibration.ellipse) vectors = corrected(std::move(vectors), origins, *ellipse);
  choose_q_pixel(result, vectors, origins, options);
  double shortest = result.plan.radii().front();
  for (const OrientationPlan& plan : result.other_plans) shortest = std::min(shortest, plan.radii().front());
  const PeakLists lists = peaks_of(vectors, origins, result.q_pixel, shortest);
  match_all(result, lists, options);
  result.grains = grains_of(result, options.grains);
  result.explained.resize(result.matches.size());
  parallel_for(result.positions(), 64, [&](Index from, Index to, Worker&) {
    for (Index i = from; i < to; ++i) {
      const auto here = static_cast<std::size_t>(i);
      const auto first = static_cast<std::size_t>(lists.first[here]),
                 last = static_cast<std::size_t>(lists.first[here + 1]);
      result.explained[here] = explained_share(result.plan_of(result.phase_at(here)), result.matches[here],
                                               std::span(lists.peaks).subspan(first, last - first));
    }
  });
  warn(result, vectors, origins);
  if (options.strain) find_strain(result, lists, vectors.calibration, options);
  return result;
}

}  // namespace sonde::stem
