// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/match_orientations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/dense/blas.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/orient/plane_partners.h"

namespace sonde::stem {
namespace {

using std::numbers::pi;
using Complex = std::complex<float>;
constexpr Index together = 16;     // patterns of one product
constexpr Index zones_block = 32;  // with 16 patterns 1024 lines of 180 angles: they stay in the second cache
constexpr Index beside = 8;        // frequencies written at a time: complex numbers of a line of the cache
constexpr std::size_t most_candidates = 5;
constexpr double candidates_apart = 3 * pi / 180;
constexpr float candidates_above = 0.6F;  // of the largest correlation

/// Largest of a correlation over angles and zones.
struct CorrelationPeak {
  float value = 0, before = 0, after = 0;
  Index zone = 0, angle = 0;
  bool mirrored = false;
};

/// Bits of floating-point numbers above zero have the order of the numbers, and their maximum is vectorised.
float largest_of(const float* values, Index count) {
  std::int32_t largest = 0;
  for (Index i = 0; i < count; ++i) largest = std::max(largest, std::bit_cast<std::int32_t>(values[i]));
  return std::bit_cast<float>(largest);
}

/// Correlates a few patterns at a time; one for each worker.
class ZoneCorrelator {
 public:
  explicit ZoneCorrelator(const OrientationPlan& plan)
      : plan_(plan),
        shells_(static_cast<Index>(plan.radii().size())),
        zones_(static_cast<Index>(plan.zones().size())),
        angles_(plan.angles()),
        frequencies_(plan.frequencies()),
        forward_(RealFft1d<float>::prepare({.length = angles_, .batch = together * shells_})),
        backward_(RealFft1d<float>::prepare({.length = angles_, .batch = 2 * zones_block * together})),
        polar_(size(together * shells_ * angles_)),
        series_(size(together * shells_ * frequencies_)),
        measured_(size(frequencies_ * shells_ * 2 * together)),
        of_real_(size(beside * zones_block * 2 * together)),
        of_imaginary_(of_real_.size()),
        spectra_(size(2 * zones_block * together * frequencies_)),
        correlations_(size(2 * zones_block * together * angles_)),
        of_zones_(size(together * zones_)) {}

  /// Patterns that are not there are empty ones. Afterwards peak() and of_zone() hold those of each.
  void run(std::span<const std::span<const DiffractionPeak>> patterns) {
    transform_patterns(patterns);
    std::fill(peaks_, peaks_ + together, CorrelationPeak{});
    for (std::vector<CorrelationPeak>& each : candidates_) each.clear();
    for (Index zone = 0; zone < zones_; zone += zones_block) {
      const Index count = std::min(zones_block, zones_ - zone);
      multiply(zone, count);
      Stream stream;
      backward_.inverse(stream, View<const Complex, 2>(spectra_.data(), 2 * zones_block * together, frequencies_),
                        View<float, 2>(correlations_.data(), 2 * zones_block * together, angles_));
      find_largest(zone, count);
    }
  }

  [[nodiscard]] const CorrelationPeak& peak(Index pattern) const { return peaks_[pattern]; }
  /// The largest correlations of zones and their mirror images that are near the largest of all, and some below.
  [[nodiscard]] const std::vector<CorrelationPeak>& candidates(Index pattern) const { return candidates_[pattern]; }
  /// The largest correlation of each zone.
  [[nodiscard]] const float* of_zones(Index pattern) const { return of_zones_.data() + pattern * zones_; }

 private:
  static std::size_t size(Index count) { return static_cast<std::size_t>(count); }
  [[nodiscard]] static Index line(Index zone, bool mirrored, Index pattern) {
    return (2 * zone + (mirrored ? 1 : 0)) * together + pattern;
  }

  /// measured_: for each frequency (shell, real parts of all patterns and imaginary parts of all patterns), with
  /// norm 1.
  void transform_patterns(std::span<const std::span<const DiffractionPeak>> patterns) {
    std::fill(polar_.begin(), polar_.end(), 0.0F);
    float scales[together] = {};
    for (std::size_t b = 0; b < patterns.size(); ++b) {
      float* const polar = polar_.data() + b * size(shells_ * angles_);
      plan_.draw(patterns[b].data(), patterns[b].size(), polar);
      double norm = 0;
      for (Index i = 0; i < shells_ * angles_; ++i)
        norm += static_cast<double>(polar[i]) * static_cast<double>(polar[i]);
      // The inverse transform multiplies by the number of angles.
      scales[b] = norm > 0 ? static_cast<float>(1 / (std::sqrt(norm) * static_cast<double>(angles_))) : 0.0F;
    }
    Stream stream;
    forward_.forward(stream, View<const float, 2>(polar_.data(), together * shells_, angles_),
                     View<Complex, 2>(series_.data(), together * shells_, frequencies_));
    for (Index f = 0; f < frequencies_; ++f)
      for (Index s = 0; s < shells_; ++s) {
        float* const to = measured_.data() + (f * shells_ + s) * 2 * together;
        for (Index b = 0; b < together; ++b) {
          const Complex value = series_[size((b * shells_ + s) * frequencies_ + f)] * scales[b];
          to[b] = value.real();
          to[together + b] = value.imag();
        }
      }
  }

  /// Both products of a frequency give the series of the pattern and of its mirror image, whose series is the
  /// conjugate: conj(P) X = (Pr Xr + Pi Xi) + i (Pr Xi - Pi Xr) and conj(P) conj(X) = (Pr Xr - Pi Xi) - i (Pr Xi + Pi
  /// Xr).
  void multiply(Index zone, Index count) {
    const Index product = zones_block * 2 * together;
    for (Index f = 0; f < frequencies_; f += beside) {
      const Index few = std::min(beside, frequencies_ - f);
      for (Index k = 0; k < few; ++k) {
        const dense::ConstMatrix<float> measured(measured_.data() + (f + k) * shells_ * 2 * together, shells_,
                                                 2 * together);
        const dense::ConstMatrix<float> real(&plan_.real(f + k)(zone, 0), count, shells_);
        const dense::ConstMatrix<float> imaginary(&plan_.imaginary(f + k)(zone, 0), count, shells_);
        dense::multiply(1, real, dense::Form::plain, measured, dense::Form::plain, 0,
                        dense::Matrix<float>(of_real_.data() + k * product, count, 2 * together));
        dense::multiply(1, imaginary, dense::Form::plain, measured, dense::Form::plain, 0,
                        dense::Matrix<float>(of_imaginary_.data() + k * product, count, 2 * together));
      }
      for (Index z = 0; z < count; ++z)
        for (Index b = 0; b < together; ++b) {
          Complex* const direct = spectra_.data() + line(z, false, b) * frequencies_ + f;
          Complex* const mirrored = spectra_.data() + line(z, true, b) * frequencies_ + f;
          const float* const r = of_real_.data() + z * 2 * together + b;
          const float* const i = of_imaginary_.data() + z * 2 * together + b;
          for (Index k = 0; k < few; ++k) {
            const float rr = r[k * product], ri = r[k * product + together];
            const float ir = i[k * product], ii = i[k * product + together];
            direct[k] = {rr + ii, ri - ir};
            mirrored[k] = {rr - ii, -ri - ir};
          }
        }
    }
  }

  void find_largest(Index zone, Index count) {
    for (Index z = 0; z < count; ++z)
      for (Index b = 0; b < together; ++b) {
        float& of_zone = of_zones_[size(b * zones_ + zone + z)];
        of_zone = 0;
        for (const bool mirrored : {false, true}) {
          const float* const row = correlations_.data() + line(z, mirrored, b) * angles_;
          const float largest = largest_of(row, angles_);
          of_zone = std::max(of_zone, largest);
          if (largest <= candidates_above * peaks_[b].value) continue;
          const Index at = std::find(row, row + angles_, largest) - row;
          candidates_[b].push_back(
              {largest, row[(at + angles_ - 1) % angles_], row[(at + 1) % angles_], zone + z, at, mirrored});
          if (largest > peaks_[b].value) peaks_[b] = candidates_[b].back();
        }
      }
  }

  const OrientationPlan& plan_;
  Index shells_, zones_, angles_, frequencies_;
  RealFft1d<float> forward_, backward_;
  std::vector<float> polar_;
  std::vector<Complex> series_;
  std::vector<float> measured_, of_real_, of_imaginary_;
  std::vector<Complex> spectra_;
  std::vector<float> correlations_, of_zones_;
  CorrelationPeak peaks_[together];
  std::vector<CorrelationPeak> candidates_[together];
};

// A mirrored pattern is that of the opposite direction, as |F_g| = |F_-g|; the mirror turns the sign of the angle.
const Mat3 mirror{{{-1, 0, 0}, {0, 1, 0}, {0, 0, -1}}};

/// See OrientationMatch.
double in_plane_of(const Orientation& orientation, bool mirrored) {
  const Vec3 beam = transposed(orientation)[2];
  const Mat3 along = mirrored ? times(orientation_along(scaled(-1, beam)), mirror) : orientation_along(beam);
  const Mat3 turn = times(transposed(along), orientation);
  const double angle = std::atan2(turn[1][0], turn[0][0]) * (mirrored ? 1 : -1);
  return angle < 0 ? angle + 2 * pi : angle;
}

OrientationMatch match_at(const OrientationPlan& plan, const CorrelationPeak& peak) {
  OrientationMatch match{.correlation = static_cast<double>(peak.value), .zone = peak.zone, .mirrored = peak.mirrored};
  const double before = static_cast<double>(peak.before), after = static_cast<double>(peak.after);
  const double bend = before - 2 * match.correlation + after;
  const double shift = bend < 0 ? std::clamp((before - after) / (2 * bend), -0.5, 0.5) : 0;
  match.in_plane = (static_cast<double>(peak.angle) + shift) * 2 * pi / static_cast<double>(plan.angles());
  const Orientation along = orientation_along(plan.zones()[static_cast<std::size_t>(peak.zone)]);
  if (!peak.mirrored) {
    match.orientation = times(along, turn_in_plane(-match.in_plane));
  } else {
    match.orientation = times(times(along, mirror), turn_in_plane(match.in_plane));
  }
  return match;
}

/// Of zones more than 5 degrees away.
double reliability_of(const OrientationPlan& plan, const CorrelationPeak& peak, const float* of_zones) {
  const Vec3& best = plan.zones()[static_cast<std::size_t>(peak.zone)];
  std::vector<Vec3> equal;
  for (const Mat3& turn : plan.group().cartesian) equal.push_back(times(turn, best));
  const double near = std::cos(distinct_angle);
  float second = 0;
  for (std::size_t z = 0; z < plan.zones().size(); ++z)
    if (of_zones[z] > second &&
        std::none_of(equal.begin(), equal.end(), [&](const Vec3& each) { return dot(each, plan.zones()[z]) > near; }))
      second = of_zones[z];
  return 100 * (1 - static_cast<double>(second) / static_cast<double>(peak.value));
}

std::optional<Orientation> other_orientation(const OrientationPlan& plan, const Orientation& orientation,
                                             std::span<const DiffractionPeak> peaks) {
  const double width = plan.options().corr_kernel_size / 2;
  std::optional<Orientation> best;
  double limit = -1;
  for (const Orientation& partner : plane_partners(plan, orientation)) {
    if (limit < 0) limit = 0.99 * overlap_of(plan, orientation, peaks, width);
    const double overlap = overlap_of(plan, partner, peaks, width);
    if (overlap < limit) continue;
    limit = overlap;
    best = partner;
  }
  return best;
}

/// The best of all zones, turns and mirror images that are more than 3 degrees from each other.
std::vector<OrientationMatch> candidates_of(const OrientationPlan& plan, std::vector<CorrelationPeak> peaks) {
  std::stable_sort(peaks.begin(), peaks.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
  std::vector<OrientationMatch> candidates;
  for (const CorrelationPeak& peak : peaks) {
    OrientationMatch match = match_at(plan, peak);
    if (std::any_of(candidates.begin(), candidates.end(), [&](const OrientationMatch& each) {
          return misorientation(each.orientation, match.orientation, plan.proper()) < candidates_apart;
        }))
      continue;
    candidates.push_back(std::move(match));
    if (candidates.size() == most_candidates) break;
  }
  return candidates;
}

/// The match that refinement makes of the best candidates.
OrientationMatch refined_match(const OrientationPlan& plan, const std::vector<OrientationMatch>& candidates,
                               std::span<const DiffractionPeak> peaks) {
  std::vector<Orientation> starts;
  for (const OrientationMatch& candidate : candidates) starts.push_back(candidate.orientation);
  const std::optional<RefinedOrientation> refined = refine_orientation(plan, starts, peaks);
  if (!refined) return candidates.front();
  OrientationMatch match = candidates[refined->start];
  match.orientation = refined->orientation;
  match.other = refined->other;
  match.in_plane = in_plane_of(refined->orientation, match.mirrored);
  match.refined = refined;
  return match;
}

/// Takes the peaks away that a match explains.
void remove_explained(const OrientationPlan& plan, const Orientation& orientation,
                      std::vector<DiffractionPeak>& peaks) {
  const std::vector<KinematicSpot> spots = kinematic_pattern(plan.reflections(), orientation, plan.beam());
  const double near = plan.options().corr_kernel_size / 2;
  std::erase_if(peaks, [&](const DiffractionPeak& peak) {
    return std::any_of(spots.begin(), spots.end(),
                       [&](const KinematicSpot& spot) { return std::hypot(spot.x - peak.x, spot.y - peak.y) < near; });
  });
}

/// Matches of a few patterns, one after the other from what is left of their peaks.
void match_few(const OrientationPlan& plan, ZoneCorrelator& correlator, std::span<const DiffractionPeak> peaks,
               std::span<const Index> first, const MatchOptions& options, std::span<PatternMatch> out) {
  const std::size_t count = out.size();
  std::vector<std::vector<DiffractionPeak>> left(count);
  for (std::size_t b = 0; b < count; ++b) {
    const auto from = peaks.begin() + first[b], to = peaks.begin() + first[b + 1];
    left[b].assign(from, to);
  }
  for (Index round = 0; round < options.matches; ++round) {
    std::vector<std::span<const DiffractionPeak>> few(count);
    bool any = false;
    for (std::size_t b = 0; b < count; ++b) {
      const bool enough = static_cast<Index>(left[b].size()) >= options.min_number_peaks;
      few[b] = enough ? std::span<const DiffractionPeak>(left[b]) : std::span<const DiffractionPeak>();
      any = any || enough;
    }
    if (!any) return;
    correlator.run(few);
    for (std::size_t b = 0; b < count; ++b) {
      const CorrelationPeak& peak = correlator.peak(static_cast<Index>(b));
      if (few[b].empty() || !(peak.value > 0)) continue;
      if (options.refine) {
        const auto candidates = candidates_of(plan, correlator.candidates(static_cast<Index>(b)));
        out[b].matches.push_back(refined_match(plan, candidates, few[b]));
      } else {
        out[b].matches.push_back(match_at(plan, peak));
        out[b].matches.back().other = other_orientation(plan, out[b].matches.back().orientation, few[b]);
      }
      if (round == 0) out[b].reliability = reliability_of(plan, peak, correlator.of_zones(static_cast<Index>(b)));
      if (round + 1 < options.matches) remove_explained(plan, out[b].matches.back().orientation, left[b]);
    }
  }
}

}  // namespace

void OrientationMatch::exchange() {
  std::swap(orientation, other.value());
  in_plane = in_plane_of(orientation, mirrored);
  if (!refined) return;
  refined->orientation = orientation;
  refined->other = other;
}

std::vector<PatternMatch> match_orientations(const OrientationPlan& plan, std::span<const DiffractionPeak> peaks,
                                             std::span<const Index> first, const MatchOptions& options) {
  const auto patterns = static_cast<Index>(first.size()) - 1;
  std::vector<PatternMatch> matches(static_cast<std::size_t>(std::max<Index>(0, patterns)));
  ProgressMeter progress("orientations", patterns, "positions");
  PerWorker<ZoneCorrelator> correlators([&] { return ZoneCorrelator(plan); });
  parallel_for(patterns, together, [&](Index from, Index to, Worker& worker) {
    match_few(plan, correlators[worker], peaks,
              first.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from + 1)), options,
              std::span(matches).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)));
    progress.advance(to - from);
  });
  return matches;
}

}  // namespace sonde::stem
