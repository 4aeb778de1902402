// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/refine_orientation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/instruments/stem/orient/plane_partners.h"

namespace sonde::stem {
namespace {

using std::numbers::pi;
constexpr double one_maximum = 0.3 * pi / 180;  // nearer ones are the same
constexpr double longest_step = 3 * pi / 180;   // rad: beyond, other spots are excited
constexpr double shortest_step = 1e-7;          // rad: steps below end a climb
constexpr double nothing_gained = 1e-12;        // of ln overlap
constexpr int most_steps = 30, most_tries = 6;
constexpr double equally_good = 0.99;
constexpr double most_exponent = 20;  // exp(-20) of a spot is left out
constexpr double hopeless = 0.25;     // of the best overlap: after three steps a start below is given up
constexpr int steps_of_grace = 3;

/// x with m x = v by Cholesky; nothing where the symmetric matrix is not positive definite.
std::optional<Vec3> solve(const Mat3& m, const Vec3& v) {
  Mat3 l{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double left = m[i][j];
      for (std::size_t k = 0; k < j; ++k) left -= l[i][k] * l[j][k];
      if (i != j) {
        l[i][j] = left / l[j][j];
      } else {
        if (!(left > 1e-12 * m[i][i])) return std::nullopt;
        l[i][i] = std::sqrt(left);
      }
    }
  Vec3 x = v;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[i][k] * x[k];
    x[i] /= l[i][i];
  }
  for (std::size_t i = 3; i-- > 0;) {
    for (std::size_t k = i + 1; k < 3; ++k) x[i] -= l[k][i] * x[k];
    x[i] /= l[i][i];
  }
  return x;
}

void add_outer(Mat3& to, double factor, const Vec3& a, const Vec3& b) {
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) to[i][j] += factor * a[i] * b[j];
}

void add(Mat3& to, double factor, const Mat3& m) {
  for (std::size_t i = 0; i < 3; ++i) to[i] = sum(to[i], scaled(factor, m[i]));
}

/// Second derivatives of component c of a vector turned by exp(turn x): half of e_a g_b + e_b g_a, less g where a is b.
Mat3 bend_of(const Vec3& g, std::size_t c) {
  Mat3 bend{{{-g[c], 0, 0}, {0, -g[c], 0}, {0, 0, -g[c]}}};
  for (std::size_t i = 0; i < 3; ++i) {
    bend[c][i] += g[i] / 2;
    bend[i][c] += g[i] / 2;
  }
  return bend;
}

/// A function of three small turns.
struct Expansion {
  double value = 0;
  Vec3 slope{};
  Mat3 bend{};

  /// Adds t with the derivatives of ln t.
  void add_exponential(double t, const Vec3& log_slope, const Mat3& log_bend) {
    value += t;
    slope = sum(slope, scaled(t, log_slope));
    add(bend, t, log_bend);
    add_outer(bend, t, log_slope, log_slope);
  }
};

/// One spot of a pattern beside the peaks near it.
struct SpotTerm {
  double amplitude = 0;  // sqrt(J)
  double measured = 0;   // sum of sqrt(I) times the kernel
  Vec3 log_slope{};      // of the amplitude
  Vec3 x_slope{}, y_slope{};
  double pull_x = 0, pull_y = 0;  // sum of sqrt(I) times the kernel times the distance, spot less peak
};

/// ln overlap of one list of peaks over orientations.
class OverlapSurface {
 public:
  OverlapSurface(const OrientationPlan& plan, std::span<const DiffractionPeak> peaks)
      : plan_(plan), width_(plan.options().corr_kernel_size / 2) {
    for (const DiffractionPeak& peak : peaks)
      if (peak.intensity > 0) {
        peaks_.push_back({peak.x, peak.y, std::sqrt(peak.intensity)});
        total_ += peak.intensity;
      }
    std::sort(peaks_.begin(), peaks_.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  }

  /// ln overlap there, -infinity where no spot is near a peak.
  Expansion at(const Orientation& orientation) {
    expand(orientation);
    Expansion log;
    if (!(both_.value > 0 && total_ > 0)) {
      log.value = -std::numeric_limits<double>::infinity();
      return log;
    }
    log.value = std::log(both_.value / std::sqrt(total_ * computed_.value));
    const Vec3 of_both = scaled(1 / both_.value, both_.slope),
               of_computed = scaled(1 / computed_.value, computed_.slope);
    log.slope = sum(of_both, scaled(-0.5, of_computed));
    add(log.bend, 1 / both_.value, both_.bend);
    add_outer(log.bend, -1, of_both, of_both);
    add(log.bend, -0.5 / computed_.value, computed_.bend);
    add_outer(log.bend, 0.5, of_computed, of_computed);
    return log;
  }

  /// At a maximum; see RefinedOrientation.
  Mat3 covariance(const Orientation& orientation) {
    const Expansion log = at(orientation);
    Mat3 curvature{};
    add(curvature, -1, log.bend);
    const double scale = both_.value / computed_.value, square = width_ * width_;
    const Vec3 of_scale = scaled(1 / both_.value, both_.slope);
    Mat3 covariance{};
    for (const SpotTerm& spot : spots_) {
      // The scale of intensities follows from all spots, so that what a spot pulls at it counts too.
      const Vec3 amplitude_slope = scaled(spot.amplitude, sum(spot.log_slope, scaled(-1, of_scale)));
      const double part = spot.amplitude * spot.amplitude / computed_.value;
      const double residual = (spot.measured - scale * spot.amplitude) / std::max(0.1, 1 - part);
      Vec3 slope = scaled(residual, amplitude_slope);
      slope = sum(slope, scaled(-spot.amplitude * spot.pull_x / square, spot.x_slope));
      slope = scaled(1 / both_.value, sum(slope, scaled(-spot.amplitude * spot.pull_y / square, spot.y_slope)));
      Mat3 own{};
      add_outer(own, 1 / computed_.value, amplitude_slope, amplitude_slope);
      add_outer(own, part / square, spot.x_slope, spot.x_slope);
      add_outer(own, part / square, spot.y_slope, spot.y_slope);
      std::optional<Vec3> shift;
      for (double share = 1; !shift && share >= 0; share -= 0.25) {
        Mat3 without = curvature;
        add(without, -share, own);
        shift = solve(without, slope);
      }
      if (!shift) return unknown();
      add_outer(covariance, 1, *shift, *shift);
    }
    return covariance;
  }

 private:
  static Mat3 unknown() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {{{nan, nan, nan}, {nan, nan, nan}, {nan, nan, nan}}};
  }

  struct Place {
    double x = 0, y = 0, amplitude = 0;
  };

  /// How a spot falls off with the distance from Ewald's sphere: a factor of its amplitude sqrt(J), and the derivatives
  /// of ln of it over g_z.
  struct Falloff {
    double factor = 0, first = 0, second = 0;
  };

  [[nodiscard]] Falloff falloff(const Reflection& reflection, double z) const {
    const double wavelength = plan_.beam().wavelength, sigma = plan_.beam().sigma_excitation_error;
    if (plan_.beam().precession != 0) {
      const PrecessedWeight mean = precessed_weight(reflection.length, z, plan_.beam());
      if (!(mean.value > 0)) return {};
      const double slope = mean.first / mean.value;
      return {std::sqrt(mean.value), slope / 2, (mean.second / mean.value - slope * slope) / 2};
    }
    const double size = reflection.length * reflection.length;
    const double below = 2 - 2 * wavelength * z, error = (2 * z - wavelength * size) / below;
    if (std::abs(error) > widest_excitation * sigma) return {};
    // Derivatives of the excitation error over g_z.
    const double first = (4 - 2 * wavelength * wavelength * size) / (below * below);
    const double second = 4 * wavelength * first / below, falls = -1 / (2 * sigma * sigma);
    return {std::exp(error * error * falls / 2), falls * error * first, falls * (first * first + error * second)};
  }

  void expand(const Orientation& orientation) {
    both_ = {};
    computed_ = {};
    spots_.clear();
    const Mat3 to_detector = transposed(orientation);
    for (const Reflection& reflection : plan_.reflections()) {
      const double z = dot(to_detector[2], reflection.g);
      const Falloff excited = falloff(reflection, z);
      if (!(excited.factor > 0)) continue;
      add_spot(std::abs(reflection.factor) * excited.factor,
               {dot(to_detector[0], reflection.g), dot(to_detector[1], reflection.g), z}, excited);
    }
  }

  void add_spot(double amplitude, const Vec3& g, const Falloff& excited) {
    // Turns about x, y and z.
    const Vec3 x{0, g[2], -g[1]}, y{-g[2], 0, g[0]}, z{g[1], -g[0], 0};
    SpotTerm spot{.amplitude = amplitude, .log_slope = scaled(excited.first, z), .x_slope = x, .y_slope = y};
    Mat3 log_bend{};
    add_outer(log_bend, excited.second, z, z);
    add(log_bend, excited.first, bend_of(g, 2));
    Mat3 twice{};
    add(twice, 2, log_bend);
    computed_.add_exponential(spot.amplitude * spot.amplitude, scaled(2, spot.log_slope), twice);
    const double reach = width_ * std::sqrt(2 * most_exponent), square = width_ * width_;
    auto near = std::lower_bound(peaks_.begin(), peaks_.end(), g[0] - reach,
                                 [](const Place& peak, double at) { return peak.x < at; });
    bool bent = false;
    Mat3 bend_x{}, bend_y{}, spread{};
    for (; near != peaks_.end() && near->x < g[0] + reach; ++near) {
      const double off_x = g[0] - near->x, off_y = g[1] - near->y;
      const double far = (off_x * off_x + off_y * off_y) / (2 * square);
      if (far >= most_exponent) continue;
      if (!bent) {
        bent = true;
        bend_x = bend_of(g, 0);
        bend_y = bend_of(g, 1);
        spread = log_bend;
        add_outer(spread, -1 / square, x, x);
        add_outer(spread, -1 / square, y, y);
      }
      const double seen = near->amplitude * std::exp(-far);
      spot.measured += seen;
      spot.pull_x += seen * off_x;
      spot.pull_y += seen * off_y;
      Mat3 bend = spread;
      add(bend, -off_x / square, bend_x);
      add(bend, -off_y / square, bend_y);
      const Vec3 slope = sum(spot.log_slope, sum(scaled(-off_x / square, x), scaled(-off_y / square, y)));
      both_.add_exponential(spot.amplitude * seen, slope, bend);
    }
    spots_.push_back(spot);
  }

  const OrientationPlan& plan_;
  double width_ = 0, total_ = 0;
  std::vector<Place> peaks_;
  Expansion both_{}, computed_{};  // N = sum sqrt(I J) kernel, C = sum J
  std::vector<SpotTerm> spots_;
};

/// The orientation whose vectors g on the detector are those of another one, turned by a small vector of turns.
Orientation turned(const Orientation& orientation, const Vec3& turns) {
  const double angle = length(turns);
  if (angle == 0) return orientation;
  return times(orientation, turn_about(scaled(-1 / angle, turns), angle));
}

double angle_between(const Orientation& a, const Orientation& b) {
  return std::acos(std::clamp((trace(times(transposed(a), b)) - 1) / 2, -1.0, 1.0));
}

struct Maximum {
  Orientation orientation{};
  double log_overlap = 0;
  std::size_t start = 0;
};

/// Collects the maxima that starts lead to.
class Climb {
 public:
  Climb(const OrientationPlan& plan, std::span<const DiffractionPeak> peaks) : surface_(plan, peaks) {}

  void from(const Orientation& start, std::size_t index) {
    Orientation here = start;
    Expansion log = surface_.at(here);
    double damping = 0;
    for (int step = 0; step < most_steps && std::isfinite(log.value); ++step) {
      if (known(here)) return;
      if (step >= steps_of_grace && log.value < best() + std::log(hopeless)) return;
      const double before = log.value;
      if (!advance(here, log, damping) || log.value - before < nothing_gained) break;
    }
    if (std::isfinite(log.value) && !known(here)) maxima_.push_back({here, log.value, index});
  }

  [[nodiscard]] const std::vector<Maximum>& maxima() const { return maxima_; }
  [[nodiscard]] const Maximum* highest() const {
    const auto highest = std::max_element(maxima_.begin(), maxima_.end(), [](const Maximum& a, const Maximum& b) {
      return a.log_overlap < b.log_overlap;
    });
    return highest == maxima_.end() ? nullptr : &*highest;
  }
  [[nodiscard]] OverlapSurface& surface() { return surface_; }

 private:
  [[nodiscard]] double best() const {
    const Maximum* const most = highest();
    return most == nullptr ? -std::numeric_limits<double>::infinity() : most->log_overlap;
  }
  [[nodiscard]] bool known(const Orientation& orientation) const {
    return std::any_of(maxima_.begin(), maxima_.end(),
                       [&](const Maximum& each) { return angle_between(each.orientation, orientation) < one_maximum; });
  }

  /// One step that makes the overlap larger; false where none does.
  bool advance(Orientation& here, Expansion& log, double& damping) {
    // Scale of the curvature along each turn: its own size, or that of the others where it is flat.
    const double mean = (std::abs(log.bend[0][0]) + std::abs(log.bend[1][1]) + std::abs(log.bend[2][2])) / 3;
    for (int attempt = 0; attempt < most_tries;) {
      Mat3 curvature{};
      add(curvature, -1, log.bend);
      for (std::size_t i = 0; i < 3; ++i) curvature[i][i] += damping * (std::abs(log.bend[i][i]) + 0.01 * mean);
      std::optional<Vec3> step = solve(curvature, log.slope);
      if (!step) {
        if (damping > 1e6) return false;
        damping = std::max(0.1, 3 * damping);
        continue;
      }
      ++attempt;
      const double size = length(*step);
      if (size < shortest_step) return false;
      if (size > longest_step) step = scaled(longest_step / size, *step);
      const Orientation there = turned(here, *step);
      const Expansion next = surface_.at(there);
      if (next.value > log.value) {
        here = there;
        log = next;
        damping = damping < 0.02 ? 0 : damping / 10;
        return true;
      }
      damping = std::max(0.1, 8 * damping);
    }
    return false;
  }

  OverlapSurface surface_;
  std::vector<Maximum> maxima_;
};

}  // namespace

double RefinedOrientation::standard_error() const { return std::sqrt(trace(covariance)); }

std::optional<RefinedOrientation> refine_orientation(const OrientationPlan& plan, std::span<const Orientation> starts,
                                                     std::span<const DiffractionPeak> peaks) {
  Climb climb(plan, peaks);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    climb.from(starts[i], i);
    climb.from(times(starts[i], turn_in_plane(pi)), i);
  }
  const Maximum* highest = climb.highest();
  if (highest == nullptr) return std::nullopt;
  const Maximum first = *highest;
  for (const Orientation& partner : plane_partners(plan, first.orientation)) climb.from(partner, first.start);
  highest = climb.highest();

  RefinedOrientation refined{.orientation = highest->orientation,
                             .overlap = std::exp(highest->log_overlap),
                             .covariance = climb.surface().covariance(highest->orientation),
                             .start = highest->start};
  double limit = highest->log_overlap + std::log(equally_good);
  for (const Maximum& each : climb.maxima()) {
    if (each.log_overlap < limit ||
        misorientation(each.orientation, refined.orientation, plan.proper()) < distinct_angle)
      continue;
    limit = each.log_overlap;
    refined.other = each.orientation;
  }
  return refined;
}

double overlap_of(const OrientationPlan& plan, const Orientation& orientation, std::span<const DiffractionPeak> peaks,
                  double width) {
  const std::vector<KinematicSpot> spots = kinematic_pattern(plan.reflections(), orientation, plan.beam());
  double measured = 0, computed = 0, both = 0;
  for (const DiffractionPeak& peak : peaks) measured += peak.intensity;
  for (const KinematicSpot& spot : spots) computed += spot.intensity;
  for (const DiffractionPeak& peak : peaks)
    for (const KinematicSpot& spot : spots) {
      const double x = spot.x - peak.x, y = spot.y - peak.y, far = (x * x + y * y) / (2 * width * width);
      if (far < most_exponent) both += std::sqrt(peak.intensity * spot.intensity) * std::exp(-far);
    }
  return measured > 0 && computed > 0 ? both / std::sqrt(measured * computed) : 0;
}

}  // namespace sonde::stem
