// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/moveout.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <unsupported/Eigen/LevenbergMarquardt>
#include <unsupported/Eigen/NumericalDiff>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/spread.h"
#include "sonde/instruments/maxwell/field/processing.h"
#include "sonde/instruments/maxwell/grid/constants.h"

namespace sonde::maxwell {
namespace {

constexpr double most_stretch = 1.4;
constexpr Index fewest_traces = 16;

double period_of(const FieldLine& gather) { return gather.nominal_frequency > 0 ? 1 / gather.nominal_frequency : 1e-8; }

void require_gather(const FieldLine& gather) {
  const std::vector<double>& at = gather.positions;
  if (gather.traces < fewest_traces || std::ssize(at) != gather.traces || at.front() < 0 ||
      std::adjacent_find(at.begin(), at.end(), std::greater_equal<>()) != at.end())
    throw Error(ErrorKind::bad_input,
                fmt::format("gather: {} traces and {} positions; expected at least 16, of rising distances from 0 on",
                            gather.traces, at.size()));
}

/// Between samples; 0 outside the record.
double value_at(const FieldLine& gather, Index trace, double time) {
  const double place = time / gather.dt;
  if (!(place >= 0) || place >= static_cast<double>(gather.samples - 1)) return 0;
  const auto before = static_cast<Index>(place);
  const double part = place - static_cast<double>(before);
  const float* values = gather.trace(trace);
  return (1 - part) * double{values[before]} + part * double{values[before + 1]};
}

/// Each sample over the root mean square of the window of this length about it, where that is not next to nothing.
void equalise(FieldLine& line, double window) {
  const Index half = std::max<Index>(1, std::lround(window / line.dt / 2));
  std::vector<double> sums(static_cast<std::size_t>(line.samples) + 1);
  for (Index i = 0; i < line.traces; ++i) {
    float* values = line.trace(i);
    for (std::size_t n = 0; n + 1 < sums.size(); ++n) sums[n + 1] = sums[n] + double{values[n]} * double{values[n]};
    const double floor = 1e-3 * sums.back() / static_cast<double>(line.samples);
    for (Index n = 0; n < line.samples; ++n) {
      const Index first = std::max<Index>(0, n - half), end = std::min(line.samples, n + half + 1);
      const double mean = (sums[static_cast<std::size_t>(end)] - sums[static_cast<std::size_t>(first)]) /
                          static_cast<double>(end - first);
      values[n] = static_cast<float>(double{values[n]} / std::sqrt(mean + floor + 1e-300));
    }
  }
}

/// As the functions of this page compare traces.
FieldLine prepared(FieldLine gather) {
  dewow(gather, 2 * period_of(gather));
  equalise(gather, 4 * period_of(gather));
  return gather;
}

/// Where waves of a source arrive: times of the traces after sample 0, those that take part.
struct Arrivals {
  std::vector<Index> traces{};
  std::vector<double> times{};
};

Arrivals along_hyperbola(const FieldLine& gather, double zero, double time, double velocity) {
  Arrivals made;
  for (Index i = 0; i < gather.traces; ++i) {
    const double t = std::hypot(time, gather.positions[static_cast<std::size_t>(i)] / velocity);
    if (t > most_stretch * time) break;
    made.traces.push_back(i);
    made.times.push_back(zero + t);
  }
  return made;
}

double mean_along(const FieldLine& gather, const Arrivals& arrivals, double later) {
  double sum = 0;
  for (std::size_t k = 0; k < arrivals.traces.size(); ++k)
    sum += value_at(gather, arrivals.traces[k], arrivals.times[k] + later);
  return sum / static_cast<double>(arrivals.traces.size());
}

/// Shifts within half a period, about ten to a period.
std::vector<double> window_of(const FieldLine& gather) {
  const double period = period_of(gather), step = std::max(gather.dt, period / 12);
  std::vector<double> made;
  for (double w = -period / 2; w <= period / 2; w += step) made.push_back(w);
  return made;
}

double semblance_along(const FieldLine& gather, const Arrivals& arrivals, const std::vector<double>& window) {
  double of_sum = 0, sum = 0;
  for (const double w : window) {
    of_sum += std::pow(mean_along(gather, arrivals, w), 2);
    for (std::size_t k = 0; k < arrivals.traces.size(); ++k)
      sum += std::pow(value_at(gather, arrivals.traces[k], arrivals.times[k] + w), 2);
  }
  return sum > 0 ? of_sum * static_cast<double>(arrivals.traces.size()) / sum : 0;
}

/// The middle of the pulse along these moments, near them: of the energy of the mean trace, a period about it.
double centre_along(const FieldLine& gather, const Arrivals& arrivals) {
  const double period = period_of(gather);
  double centre = 0;
  for (int i = 0; i < 4; ++i) {
    double energy = 0, moment = 0;
    for (double w = centre - period; w <= centre + period; w += gather.dt) {
      const double here = std::pow(mean_along(gather, arrivals, w), 2);
      energy += here;
      moment += w * here;
    }
    if (energy > 0) centre = moment / energy;
  }
  return centre;
}

/// Along a line, from the trace `first` on.
Arrivals along_line(const FieldLine& gather, Index first, double onset, double velocity) {
  Arrivals made;
  for (Index i = first; i < gather.traces; ++i) {
    made.traces.push_back(i);
    made.times.push_back(onset + gather.positions[static_cast<std::size_t>(i)] / velocity);
  }
  return made;
}

/// Whether these, by time, are layers of waves no faster than in vacuum.
bool are_layers(std::vector<Reflection> found) {
  const std::vector<Layer> layers = layers_of(found);
  return std::ranges::all_of(layers, [](const Layer& each) { return each.velocity > 0 && each.velocity <= c0; });
}

/// Not at the edges of the search, where a peak is beyond them.
std::vector<Reflection> peaks_of(const std::vector<std::vector<Reflection>>& panel, double least) {
  std::vector<Reflection> made;
  for (std::size_t i = 1; i + 1 < panel.size(); ++i)
    for (std::size_t j = 1; j + 1 < panel[i].size(); ++j) {
      const double here = panel[i][j].semblance;
      bool peak = here >= least;
      for (std::size_t a = i - 1; peak && a <= i + 1; ++a)
        for (std::size_t b = j - 1; b <= j + 1; ++b) peak = peak && panel[a][b].semblance <= here;
      if (peak) made.push_back(panel[i][j]);
    }
  return made;
}

void insert_by_time(std::vector<Reflection>& found, const Reflection& one) {
  found.insert(std::ranges::upper_bound(found, one.time, {}, &Reflection::time), one);
}

/// Of one trace, from the shift by which it agrees best with the pilot; none where they do not agree by half.
std::optional<double> shift_of(const FieldLine& gather, Index trace, double time, const std::vector<double>& window,
                               const std::vector<double>& pilot) {
  double best = 0.5;
  std::optional<double> shift;
  for (const double by : window) {
    double product = 0, of_trace = 0, of_pilot = 0;
    for (std::size_t k = 0; k < window.size(); ++k) {
      const double value = value_at(gather, trace, time + window[k] + by);
      product += value * pilot[k];
      of_trace += value * value;
      of_pilot += pilot[k] * pilot[k];
    }
    const double agreement = product / std::sqrt(of_trace * of_pilot + 1e-300);
    if (agreement > best) best = agreement, shift = by;
  }
  return shift;
}

struct MeasuredTime {
  std::size_t layers;  ///< above the reflector
  double distance, time;
};

std::vector<MeasuredTime> measured_times(const FieldLine& gather, double zero, const std::vector<Reflection>& found) {
  const std::vector<double> window = window_of(gather);
  std::vector<MeasuredTime> made;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Arrivals arrivals = along_hyperbola(gather, zero, found[k].time, found[k].velocity);
    std::vector<double> pilot;
    for (const double w : window) pilot.push_back(mean_along(gather, arrivals, w));
    for (std::size_t i = 0; i < arrivals.traces.size(); ++i)
      if (const auto shift = shift_of(gather, arrivals.traces[i], arrivals.times[i], window, pilot))
        made.push_back(
            {k + 1, gather.positions[static_cast<std::size_t>(arrivals.traces[i])], arrivals.times[i] + *shift - zero});
  }
  return made;
}

/// What layers do not explain of the times; the unknowns are logarithms of velocities and thicknesses.
struct RestOfTimes : Eigen::DenseFunctor<double> {
  const std::vector<MeasuredTime>* times;
  RestOfTimes(Index unknowns, const std::vector<MeasuredTime>& measured)
      : DenseFunctor(static_cast<int>(unknowns), static_cast<int>(measured.size())), times(&measured) {}
  int operator()(const Eigen::VectorXd& unknowns, Eigen::VectorXd& rest) const {
    for (Index i = 0; i < rest.size(); ++i) {
      const MeasuredTime& one = (*times)[static_cast<std::size_t>(i)];
      std::vector<Layer> layers;
      for (Index k = 0; k < static_cast<Index>(one.layers); ++k)
        layers.push_back({std::exp(unknowns[2 * k]), std::exp(unknowns[2 * k + 1])});
      rest[i] = one.time - reflection_time(layers, one.distance);
    }
    return 0;
  }
};

}  // namespace

DirectWave direct_wave(const FieldLine& gather) {
  require_gather(gather);
  FieldLine line = gather;
  const double period = period_of(line);
  dewow(line, 4 * period);
  std::vector<double> begins, slopes, onsets;
  for (Index i = 0; i < line.traces; ++i) {
    const std::span<float> values(line.trace(i), static_cast<std::size_t>(line.samples));
    float most = 1e-30F;
    for (const float value : values) most = std::max(most, std::abs(value));
    for (float& value : values) value /= most;
    const auto first = std::ranges::find_if(values, [](float value) { return std::abs(value) >= 0.1F; });
    begins.push_back(static_cast<double>(first - values.begin()) * line.dt);
  }
  const std::vector<double>& at = line.positions;
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t j = i + 1; j < at.size(); ++j) slopes.push_back((begins[j] - begins[i]) / (at[j] - at[i]));
  const double slowness = median(std::move(slopes));
  if (!(slowness > 0)) throw Error(ErrorKind::bad_input, "gather: first arrivals do not become later with distance");
  for (std::size_t i = 0; i < at.size(); ++i) onsets.push_back(begins[i] - slowness * at[i]);
  const double onset = median(std::move(onsets));
  const Index first = line.traces / 2;
  const std::vector<double> window = window_of(line);
  DirectWave made;
  for (double velocity = 0.9 / slowness; velocity < 1.1 / slowness; velocity *= 1.0025)
    for (double later = -period; later <= period; later += period / 20) {
      const double found = semblance_along(line, along_line(line, first, onset + later, velocity), window);
      if (found > made.semblance) made = {velocity, onset + later, found};
    }
  made.centre += centre_along(line, along_line(line, first, made.centre, made.velocity));
  return made;
}

std::vector<Reflection> reflections(const FieldLine& gather, double zero, const ReflectionSearch& search) {
  require_gather(gather);
  const FieldLine line = prepared(gather);
  const double period = period_of(line), length = static_cast<double>(line.samples) * line.dt;
  const double earliest = search.earliest > 0 ? search.earliest : 5 * period,
               latest = search.latest > 0 ? search.latest : (length - zero) / 2;
  const std::vector<double> window = window_of(line);
  std::vector<std::vector<Reflection>> panel;  // [time][velocity]
  for (double time = earliest; time < latest; time += period / 8) {
    std::vector<Reflection>& row = panel.emplace_back();
    for (double velocity = search.slowest; velocity < search.fastest; velocity *= 1.02) {
      const Arrivals arrivals = along_hyperbola(line, zero, time, velocity);
      const bool many = std::ssize(arrivals.traces) >= fewest_traces;
      row.push_back({time, velocity, many ? semblance_along(line, arrivals, window) : 0});
    }
  }
  std::vector<Reflection> peaks = peaks_of(panel, search.least), made;
  std::ranges::stable_sort(peaks, std::greater<>(), &Reflection::semblance);
  for (Reflection one : peaks) {
    one.time += centre_along(line, along_hyperbola(line, zero, one.time, one.velocity));
    if (std::ranges::any_of(made, [&](const Reflection& each) { return std::abs(each.time - one.time) < 2 * period; }))
      continue;
    std::vector<Reflection> with = made;
    insert_by_time(with, one);
    if (are_layers(with)) made = std::move(with);
  }
  return made;
}

std::vector<Layer> layers_of(const std::vector<Reflection>& found) {
  std::vector<Layer> made;
  double time = 0, squares = 0;
  for (const Reflection& each : found) {
    const double here = each.velocity * each.velocity * each.time, between = each.time - time;
    const double velocity = std::sqrt((here - squares) / between);
    made.push_back({velocity, velocity * between / 2});
    time = each.time;
    squares = here;
  }
  return made;
}

double reflection_time(const std::vector<Layer>& layers, double distance) {
  double fastest = 0;
  for (const Layer& each : layers) fastest = std::max(fastest, each.velocity);
  // The distance grows with the horizontal slowness p, from 0 to infinity at 1 / fastest.
  double low = 0, high = 1 / fastest, time = 0;
  for (int i = 0; i < 100; ++i) {
    const double p = (low + high) / 2;
    double reached = 0;
    time = 0;
    for (const Layer& each : layers) {
      const double cosine = std::sqrt(std::max(1e-300, 1 - std::pow(p * each.velocity, 2)));
      reached += 2 * each.thickness * p * each.velocity / cosine;
      time += 2 * each.thickness / (each.velocity * cosine);
    }
    // Stationary in p: what is left of the distance costs p for each metre.
    time += p * (distance - reached);
    (reached < distance ? low : high) = p;
  }
  return time;
}

LayerFit fit_layers(const FieldLine& gather, double zero, const std::vector<Reflection>& found) {
  require_gather(gather);
  const std::vector<MeasuredTime> times = measured_times(prepared(gather), zero, found);
  LayerFit made{.layers = layers_of(found), .times = std::ssize(times)};
  if (made.times < 4 * std::ssize(made.layers))
    throw Error(ErrorKind::bad_input, fmt::format("gather: {} times of reflections for {} layers; expected at least {}",
                                                  made.times, made.layers.size(), 4 * made.layers.size()));
  Eigen::VectorXd unknowns(2 * std::ssize(made.layers));
  for (Index k = 0; k < std::ssize(made.layers); ++k) {
    unknowns[2 * k] = std::log(made.layers[static_cast<std::size_t>(k)].velocity);
    unknowns[2 * k + 1] = std::log(made.layers[static_cast<std::size_t>(k)].thickness);
  }
  Eigen::NumericalDiff<RestOfTimes> rest(RestOfTimes(unknowns.size(), times));
  const auto rms = [&] {
    Eigen::VectorXd left(made.times);
    rest(unknowns, left);
    return left.norm() / std::sqrt(static_cast<double>(made.times));
  };
  made.before = rms();
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<RestOfTimes>>(rest).minimize(unknowns);
  made.after = rms();
  for (Index k = 0; k < std::ssize(made.layers); ++k)
    made.layers[static_cast<std::size_t>(k)] = {std::exp(unknowns[2 * k]), std::exp(unknowns[2 * k + 1])};
  return made;
}

}  // namespace sonde::maxwell
