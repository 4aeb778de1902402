// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/noise_peak.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

using Three = std::array<double, 3>;  // amplitude, mean, log sigma
using Matrix = std::array<Three, 3>;

constexpr double sigmas_below = 3, sigmas_above = 1;
constexpr int most_windows = 20, most_steps = 50;

/// x of m x = b by Cholesky's decomposition; false where m is not positive definite.
bool solve(const Matrix& m, const Three& b, Three& x) {
  Matrix l{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = m[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      if (i != j) {
        l[i][j] = sum / l[j][j];
        continue;
      }
      if (!(sum > 0)) return false;
      l[i][i] = std::sqrt(sum);
    }
  Three y{};
  for (std::size_t i = 0; i < 3; ++i) {
    y[i] = b[i];
    for (std::size_t k = 0; k < i; ++k) y[i] -= l[i][k] * y[k];
    y[i] /= l[i][i];
  }
  for (std::size_t i = 3; i-- > 0;) {
    x[i] = y[i];
    for (std::size_t k = i + 1; k < 3; ++k) x[i] -= l[k][i] * x[k];
    x[i] /= l[i][i];
  }
  return true;
}

/// The sums of a weighted least-squares problem.
struct Normal {
  Matrix curvature{};
  Three slope{};
  double squares = 0;
};

class PeakFit {
 public:
  PeakFit(const ValueHistogram& histogram, double low, double high) : histogram_(histogram) {
    for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin)
      if (histogram.middle(bin) >= low && histogram.middle(bin) <= high) bins_.push_back(bin);
  }

  [[nodiscard]] std::size_t bins() const { return bins_.size(); }

  /// Levenberg and Marquardt's steps from `at`; returns how many were tried.
  int run(Three& at) {
    double damping = 1e-3;
    weigh(at);
    Normal here = normal(at);
    for (int step = 1; step <= most_steps; ++step) {
      Matrix damped = here.curvature;
      for (std::size_t i = 0; i < 3; ++i) damped[i][i] *= 1 + damping;
      Three move{}, next = at;
      if (!solve(damped, here.slope, move)) return step;
      for (std::size_t i = 0; i < 3; ++i) next[i] += move[i];
      const Normal there = normal(next);
      if (!(there.squares <= here.squares)) {
        damping *= 10;
        if (damping > 1e10) return step;
        continue;
      }
      damping = std::max(damping / 10, 1e-12);
      at = next;
      const double sigma = std::exp(at[2]);
      const bool still = std::abs(move[1]) < 1e-9 * sigma && std::abs(move[2]) < 1e-9;
      weigh(at);
      here = normal(at);
      if (still) return step;
    }
    return most_steps;
  }

  /// Variances of the parameters.
  [[nodiscard]] Three variances(const Three& at) {
    weigh(at);
    const Normal here = normal(at);
    Three found{};
    for (std::size_t i = 0; i < 3; ++i) {
      Three unit{}, column{};
      unit[i] = 1;
      if (solve(here.curvature, unit, column)) found[i] = column[i];
    }
    return found;
  }

  [[nodiscard]] double misfit(const Three& at) const {
    double squares = 0;
    for (const std::size_t bin : bins_) squares += std::pow(count(bin) - expected(at, bin), 2);
    return std::sqrt(squares / static_cast<double>(bins_.size())) / at[0];
  }

 private:
  [[nodiscard]] double count(std::size_t bin) const { return static_cast<double>(histogram_.counts[bin]); }
  [[nodiscard]] double expected(const Three& at, std::size_t bin) const {
    const double z = (histogram_.middle(bin) - at[1]) / std::exp(at[2]);
    return at[0] * std::exp(-0.5 * z * z);
  }

  /// Counts vary as their expectation does.
  void weigh(const Three& at) {
    weights_.clear();
    for (const std::size_t bin : bins_) weights_.push_back(1 / std::max(expected(at, bin), 1.0));
  }

  [[nodiscard]] Normal normal(const Three& at) const {
    Normal sums;
    const double sigma = std::exp(at[2]);
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      const double value = expected(at, bins_[i]), z = (histogram_.middle(bins_[i]) - at[1]) / sigma;
      const Three slope = {value / at[0], value * z / sigma, value * z * z};
      const double difference = count(bins_[i]) - value;
      for (std::size_t a = 0; a < 3; ++a) {
        sums.slope[a] += weights_[i] * slope[a] * difference;
        for (std::size_t b = 0; b < 3; ++b) sums.curvature[a][b] += weights_[i] * slope[a] * slope[b];
      }
      sums.squares += weights_[i] * difference * difference;
    }
    return sums;
  }

  const ValueHistogram& histogram_;
  std::vector<std::size_t> bins_;
  std::vector<double> weights_;
};

/// The value below which this share of all values is.
double quantile(const ValueHistogram& histogram, double share) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : histogram.counts) all += count;
  const double wanted = share * static_cast<double>(all);
  double below = 0;
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    const auto count = static_cast<double>(histogram.counts[bin]);
    if (below + count >= wanted && count > 0)
      return histogram.first + histogram.width * (static_cast<double>(bin) + (wanted - below) / count);
    below += count;
  }
  return histogram.first;
}

}  // namespace

ValueHistogram ValueHistogram::of(std::span<const float> values, double least, double most, double width) {
  ValueHistogram made{.first = least, .width = width};
  made.counts.assign(static_cast<std::size_t>(std::max(0.0, std::floor((most - least) / width))) + 1, 0);
  const auto last = static_cast<double>(made.counts.size() - 1);
  for (const float value : values) {
    const double bin = std::floor((static_cast<double>(value) - least) / width);
    ++made.counts[static_cast<std::size_t>(std::clamp(bin, 0.0, last))];
  }
  return made;
}

NoisePeak fit_noise_peak(const ValueHistogram& histogram) {
  const double median = quantile(histogram, 0.5), flank = median - quantile(histogram, 0.1587);
  NoisePeak peak{.mean = median, .sigma = std::max(flank, 0.5 * histogram.width)};
  double tallest = 0;
  for (const std::uint64_t count : histogram.counts) tallest = std::max(tallest, static_cast<double>(count));
  Three at = {std::max(tallest, 1.0), peak.mean, std::log(peak.sigma)};
  for (int window = 0; window < most_windows; ++window) {
    // Whole bins: whether one of width sigma is taken must not hang on the last digit of the mean.
    const double low = peak.mean - sigmas_below * peak.sigma - histogram.width / 2;
    const double high = peak.mean + sigmas_above * peak.sigma + histogram.width / 2;
    PeakFit fit(histogram, low, high);
    if (fit.bins() < 4)
      throw Error(ErrorKind::bad_input, "the values have no noise peak: fewer than four of them are around the median");
    peak.iterations += fit.run(at);
    const double before_mean = peak.mean, before_sigma = peak.sigma;
    peak.amplitude = at[0];
    peak.mean = at[1];
    peak.sigma = std::exp(at[2]);
    peak.low = low;
    peak.high = high;
    const Three variances = fit.variances(at);
    peak.mean_error = std::sqrt(variances[1]);
    peak.sigma_error = peak.sigma * std::sqrt(variances[2]);
    peak.misfit = fit.misfit(at);
    // The bins in the window stay the same from here on.
    if (std::abs(peak.mean - before_mean) + std::abs(peak.sigma - before_sigma) < 1e-3 * peak.sigma) break;
  }
  return peak;
}

}  // namespace sonde::stem
