// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/events/tempo.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sonde/engine/base/index.h"

namespace sonde::separate {
namespace {

constexpr double step_s = 0.005;                      // of curves over time and over periods
constexpr double width_s = 0.02;                      // of an event: how exactly people play together
constexpr double fastest = 240, slowest = 40;         // beats a minute
constexpr double usual_s = 0.5, usual_octaves = 0.9;  // Ellis 2007
constexpr double tightness = 100;                     // of steps of the path: likewise
constexpr std::size_t fewest_events = 8;

double bell(double x) { return std::exp(-0.5 * x * x); }

/// Weights of pairs of events, at each distance up to two of the longest periods.
std::vector<double> autocorrelation(const std::vector<double>& times_s, const std::vector<double>& weights) {
  std::vector<double> sums(static_cast<std::size_t>(2 * 60 / slowest / step_s) + 1);
  const auto reach = static_cast<Index>(3 * width_s / step_s), last = static_cast<Index>(sums.size()) - 1;
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    for (std::size_t k = i + 1; k < times_s.size() && times_s[k] - times_s[i] < 2 * 60 / slowest; ++k) {
      const double distance = (times_s[k] - times_s[i]) / step_s;
      const auto nearest = static_cast<Index>(std::lround(distance));
      for (Index lag = std::max<Index>(1, nearest - reach); lag <= std::min(last, nearest + reach); ++lag) {
        const double off_s = (static_cast<double>(lag) - distance) * step_s;
        sums[static_cast<std::size_t>(lag)] += weights[i] * weights[k] * bell(off_s / width_s);
      }
    }
  }
  return sums;
}

/// In steps; 0 where no two events have such a distance.
Index period_of(const std::vector<double>& pairs) {
  Index best = 0;
  double most = 0;
  const auto at = [&](Index lag) { return pairs[static_cast<std::size_t>(lag)]; };
  for (auto lag = static_cast<Index>(60 / fastest / step_s); lag <= static_cast<Index>(60 / slowest / step_s); ++lag) {
    const double octaves = std::log2(static_cast<double>(lag) * step_s / usual_s);
    const double found = bell(octaves / usual_octaves) * (at(lag) + 0.5 * at(2 * lag) + 0.25 * at(lag / 2));
    if (found > most) best = lag, most = found;
  }
  return best;
}

/// Times of the path with the most events on it.
std::vector<double> beats_of(const std::vector<double>& times_s, const std::vector<double>& weights, Index period) {
  const auto count = static_cast<std::size_t>(times_s.back() / step_s) + 1;
  const auto reach = static_cast<Index>(3 * width_s / step_s);
  std::vector<double> score(count);
  double mean = 0;
  for (std::size_t i = 0; i < times_s.size(); ++i) mean += weights[i] / static_cast<double>(times_s.size());
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    const auto nearest = static_cast<Index>(std::lround(times_s[i] / step_s));
    for (Index t = std::max<Index>(0, nearest - reach); t <= std::min(static_cast<Index>(count) - 1, nearest + reach);
         ++t)
      score[static_cast<std::size_t>(t)] +=
          weights[i] / mean * bell((static_cast<double>(t) * step_s - times_s[i]) / width_s);
  }
  std::vector<double> penalties;  // of steps from half a period to two
  for (Index lag = period / 2; lag <= 2 * period; ++lag)
    penalties.push_back(tightness * std::pow(std::log(static_cast<double>(lag) / static_cast<double>(period)), 2));
  std::vector<Index> before(count, -1);
  for (Index t = 0; t < static_cast<Index>(count); ++t) {
    double best = 0;  // a path may begin here
    for (Index lag = period / 2; lag <= std::min(t, 2 * period); ++lag) {
      const double found =
          score[static_cast<std::size_t>(t - lag)] - penalties[static_cast<std::size_t>(lag - period / 2)];
      if (found > best) best = found, before[static_cast<std::size_t>(t)] = t - lag;
    }
    score[static_cast<std::size_t>(t)] += best;
  }
  const auto tail = score.end() - static_cast<std::ptrdiff_t>(std::min(count, static_cast<std::size_t>(period)));
  std::vector<double> beats;
  for (Index t = std::max_element(tail, score.end()) - score.begin(); t >= 0; t = before[static_cast<std::size_t>(t)])
    beats.push_back(static_cast<double>(t) * step_s);
  std::reverse(beats.begin(), beats.end());
  return beats;
}

/// The slope of the straight line through the beats.
double seconds_per_beat(const std::vector<double>& beats) {
  const auto count = static_cast<double>(beats.size());
  double mean = 0, products = 0, squares = 0;
  for (const double each : beats) mean += each / count;
  for (std::size_t i = 0; i < beats.size(); ++i) {
    const double index = static_cast<double>(i) - (count - 1) / 2;
    products += index * (beats[i] - mean), squares += index * index;
  }
  return products / squares;
}

}  // namespace

std::optional<Tempo> find_tempo(const std::vector<double>& times_s, const std::vector<double>& weights) {
  if (times_s.size() < fewest_events) return {};
  const Index period = period_of(autocorrelation(times_s, weights));
  if (period == 0) return {};
  Tempo tempo{.beats_s = beats_of(times_s, weights, period)};
  if (tempo.beats_s.size() < 2) return {};
  tempo.per_minute = 60 / seconds_per_beat(tempo.beats_s);
  return tempo;
}

}  // namespace sonde::separate
