// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/processing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft1d.h"
#include "sonde/instruments/maxwell/grid/constants.h"

namespace sonde::maxwell {
namespace {

using std::numbers::pi;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::bad_input, what); }

/// The mean of an odd number of values about each, at the ends of those that there are.
class RunningMean {
 public:
  explicit RunningMean(Index width) : half_(width / 2) {}

  /// `next()` gives the values in order; `put(i, mean)` takes the results.
  template <class At, class Put>
  void run(Index count, At at, Put put) {
    sums_.assign(static_cast<std::size_t>(count) + 1, 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      sums_[i + 1] = sums_[i] + double{at(static_cast<Index>(i))};
    for (Index i = 0; i < count; ++i) {
      const Index first = std::max<Index>(0, i - half_), end = std::min(count, i + half_ + 1);
      put(i, (sums_[static_cast<std::size_t>(end)] - sums_[static_cast<std::size_t>(first)]) /
                 static_cast<double>(end - first));
    }
  }

 private:
  Index half_;
  std::vector<double> sums_;
};

/// Over all traces, of what `of` makes of a sample.
template <class Of>
std::vector<double> mean_trace(const FieldLine& line, Of of) {
  std::vector<double> mean(static_cast<std::size_t>(line.samples));
  for (Index i = 0; i < line.traces; ++i)
    for (std::size_t n = 0; n < mean.size(); ++n) mean[n] += of(double{line.trace(i)[n]});
  for (double& value : mean) value /= static_cast<double>(line.traces);
  return mean;
}

/// sinc(c d) in a Kaiser window, at the distance d in samples, c <= 1 of the Nyquist frequency.
double windowed_sinc(double distance, double cutoff) {
  constexpr double zeros = 16, shape = 9;  // side lobes of the window below 1e-4
  const double part = distance * cutoff / zeros;
  if (std::abs(part) >= 1) return 0;
  const double angle = pi * distance * cutoff;
  const double sinc = angle == 0 ? 1 : std::sin(angle) / angle;
  return sinc * std::cyl_bessel_i(0, shape * std::sqrt(1 - part * part)) / std::cyl_bessel_i(0, shape);
}

struct WeightedSamples {
  Index first = 0;
  std::vector<double> weights;
};

WeightedSamples weights_at(double position, double cutoff, Index samples) {
  const double reach = 16 / cutoff;
  WeightedSamples made{.first = std::max<Index>(0, static_cast<Index>(std::ceil(position - reach))), .weights = {}};
  const Index last = std::min(samples - 1, static_cast<Index>(std::floor(position + reach)));
  double sum = 0;
  for (Index i = made.first; i <= last; ++i) {
    made.weights.push_back(windowed_sinc(position - static_cast<double>(i), cutoff));
    sum += made.weights.back();
  }
  for (double& weight : made.weights) weight /= sum;
  return made;
}

/// The half integral of series: their spectra times factor / sqrt(j w).
class HalfIntegral {
 public:
  HalfIntegral(Index samples, double dt, double factor)
      // It decays as 1 / sqrt(t): with three times as many zeros little comes round.
      : plan_(RealFft1d<double>::prepare({.length = 4 * samples})),
        series_(static_cast<std::size_t>(4 * samples)),
        spectrum_(static_cast<std::size_t>(plan_.frequencies())),
        dt_(dt),
        factor_(factor) {}

  /// In place; what is behind the samples is 0 before.
  std::vector<double>& series() { return series_; }
  void run(Stream& stream) {
    const auto length = static_cast<double>(series_.size());
    plan_.forward(stream, View<const double, 2>(series_.data(), 1, plan_.key().length), frequencies());
    spectrum_[0] = 0;
    for (std::size_t k = 1; k < spectrum_.size(); ++k)
      spectrum_[k] *=
          factor_ / length / std::sqrt(std::complex<double>(0, 2 * pi * static_cast<double>(k) / (length * dt_)));
    plan_.inverse(stream, frequencies(), View<double, 2>(series_.data(), 1, plan_.key().length));
  }

 private:
  View<std::complex<double>, 2> frequencies() { return {spectrum_.data(), 1, plan_.frequencies()}; }

  RealFft1d<double> plan_;
  std::vector<double> series_;
  std::vector<std::complex<double>> spectrum_;
  double dt_, factor_;
};

double period(const FieldLine& line) { return line.nominal_frequency > 0 ? 1 / line.nominal_frequency : 1e-9; }

}  // namespace

void subtract(FieldLine& line, const FieldLine& other) {
  if (other.samples != line.samples || !(std::abs(other.dt / line.dt - 1) <= 1e-6))
    refuse(fmt::format("{}: {} samples of {:g} ns to subtract from {} of {:g} ns; expected the same", other.title,
                       other.samples, other.dt * 1e9, line.samples, line.dt * 1e9));
  const bool each = other.traces == line.traces;
  const std::vector<double> mean = mean_trace(other, [](double value) { return value; });
  for (Index i = 0; i < line.traces; ++i)
    for (Index n = 0; n < line.samples; ++n)
      line.trace(i)[n] -= each ? other.trace(i)[n] : static_cast<float>(mean[static_cast<std::size_t>(n)]);
  line.history.push_back(fmt::format("subtracted {} of {}", each ? "the traces" : "the mean trace", other.title));
}

double first_break(const FieldLine& line) {
  const std::vector<double> mean = mean_trace(line, [](double value) { return std::abs(value); });
  const double largest = *std::max_element(mean.begin(), mean.end());
  const auto first = std::find_if(mean.begin(), mean.end(), [&](double value) { return value >= largest / 10; });
  return static_cast<double>(first - mean.begin()) * line.dt;
}

void cut_to_time_zero(FieldLine& line, double zero) {
  const double window = static_cast<double>(line.samples) * line.dt;
  if (!(zero < window) || !(zero > -1))
    refuse(fmt::format("time zero at {:g} ns; the record ends at {:g} ns", zero * 1e9, window * 1e9));
  // A time that is a sample but for its rounding is that sample.
  const Index cut = std::max<Index>(0, static_cast<Index>(std::floor(zero / line.dt + 1e-6)));
  const Index left = std::max<Index>(1, line.samples - cut);
  for (Index i = 0; i < line.traces; ++i)
    std::copy_n(line.trace(i) + (line.samples - left), left, line.values.begin() + i * left);
  const Index gone = line.samples - left;
  line.samples = left;
  line.values.resize(static_cast<std::size_t>(line.traces * left));
  line.time_zero = zero - static_cast<double>(gone) * line.dt;
  if (std::abs(line.time_zero) < 1e-6 * line.dt) line.time_zero = 0;
  line.history.push_back(fmt::format("time zero at {:.6g} ns, {} samples before it cut off", zero * 1e9, gone));
}

void dewow(FieldLine& line, double window) {
  if (window == 0 && line.nominal_frequency == 0)
    refuse(line.title + ": its nominal frequency is not known; give the window of the running mean");
  const double length = window == 0 ? period(line) : window;
  if (!(length > 0) || !(length / line.dt < 1e9)) refuse(fmt::format("a window of {:g} s; expected a time", window));
  const Index width = 2 * static_cast<Index>(std::round(length / line.dt / 2)) + 1;
  RunningMean mean(width);
  std::vector<double> means(static_cast<std::size_t>(line.samples));
  for (Index i = 0; i < line.traces; ++i) {
    float* trace = line.trace(i);
    mean.run(
        line.samples, [&](Index n) { return trace[n]; },
        [&](Index n, double value) { means[static_cast<std::size_t>(n)] = value; });
    for (Index n = 0; n < line.samples; ++n)
      trace[n] = static_cast<float>(trace[n] - means[static_cast<std::size_t>(n)]);
  }
  line.history.push_back(fmt::format("dewow: less the mean of {} samples, {:.6g} ns", width, length * 1e9));
}

void remove_background(FieldLine& line, Index traces) {
  if (traces < 0) refuse(fmt::format("a background of {} traces; expected 0 or more", traces));
  const bool all = traces == 0 || traces >= 2 * line.traces;
  const Index width = all ? 2 * line.traces + 1 : traces / 2 * 2 + 1;
  RunningMean mean(width);
  for (Index n = 0; n < line.samples; ++n) {
    const auto at = [&](Index i) -> float& { return line.trace(i)[n]; };
    mean.run(line.traces, at, [&](Index i, double value) { at(i) = static_cast<float>(at(i) - value); });
  }
  line.history.push_back(all ? "background: less the mean of all traces"
                             : fmt::format("background: less the mean of {} traces about each", width));
}

void resample(FieldLine& line, double dt) {
  const double ratio = dt / line.dt;
  if (!(ratio > 1e-3 && ratio < static_cast<double>(line.samples)))
    refuse(fmt::format("{:g} ns from {} samples of {:g} ns; expected 0.001 to {} times as much", dt * 1e9, line.samples,
                       line.dt * 1e9, line.samples));
  const double cutoff = std::min(1.0, 1 / ratio);
  // The last sample is within the record.
  const auto samples = static_cast<Index>(std::floor(static_cast<double>(line.samples - 1) / ratio + 1e-9)) + 1;
  std::vector<WeightedSamples> weights;
  for (Index n = 0; n < samples; ++n)
    weights.push_back(weights_at(static_cast<double>(n) * ratio, cutoff, line.samples));
  std::vector<float> made(static_cast<std::size_t>(line.traces * samples));
  parallel_for(line.traces, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i)
      for (Index n = 0; n < samples; ++n) {
        const WeightedSamples& taps = weights[static_cast<std::size_t>(n)];
        const float* trace = line.trace(i) + taps.first;
        double sum = 0;
        for (std::size_t k = 0; k < taps.weights.size(); ++k) sum += taps.weights[k] * double{trace[k]};
        made[static_cast<std::size_t>(i * samples + n)] = static_cast<float>(sum);
      }
  });
  line.history.push_back(fmt::format("resampled from {:.6g} to {:.6g} ns", line.dt * 1e9, dt * 1e9));
  line.values = std::move(made);
  line.samples = samples;
  line.dt = dt;
}

void to_2d(FieldLine& line, double eps_r, std::span<const double> arrivals) {
  if (!(eps_r >= 1 && eps_r < 1e3)) refuse(fmt::format("a mean eps_r of {:g}; expected at least 1", eps_r));
  if (!arrivals.empty() && static_cast<Index>(arrivals.size()) != line.traces)
    refuse(fmt::format("{} times of arrival; expected one for each of {} traces", arrivals.size(), line.traces));
  HalfIntegral half(line.samples, line.dt, std::sqrt(2 * pi / (eps0 * eps_r * mu0)));
  Stream stream(Device::cpu());
  std::vector<double>& series = half.series();
  for (Index i = 0; i < line.traces; ++i) {
    float* trace = line.trace(i);
    for (Index n = 0; n < line.samples; ++n) {
      const double since =
          arrivals.empty() ? static_cast<double>(n) * line.dt - line.time_zero : arrivals[static_cast<std::size_t>(i)];
      series[static_cast<std::size_t>(n)] = std::sqrt(std::max(0.0, since)) * double{trace[n]};
    }
    std::fill(series.begin() + line.samples, series.end(), 0);
    half.run(stream);
    std::transform(series.begin(), series.begin() + line.samples, trace,
                   [](double value) { return static_cast<float>(value); });
  }
  line.history.push_back(fmt::format("3D to 2D with eps_r {:.6g} and the times of {}", eps_r,
                                     arrivals.empty() ? "the samples" : "arrival"));
}

void apply_gain(FieldLine& line, double rate, double limit) {
  if (!(std::abs(rate) < 1e3) || !(limit > 0 && limit < 1e3))
    refuse(fmt::format("a gain of {:g} dB/ns up to {:g} dB; expected numbers below 1000", rate, limit));
  const double start = period(line), most = std::pow(10, limit / 20);
  for (Index n = 0; n < line.samples; ++n) {
    const double since = std::max(start, static_cast<double>(n) * line.dt - line.time_zero);
    const double gain = std::min(most, since / start * std::pow(10, rate * (since - start) * 1e9 / 20));
    for (Index i = 0; i < line.traces; ++i) line.trace(i)[n] = static_cast<float>(gain * double{line.trace(i)[n]});
  }
  line.history.push_back(
      fmt::format("gain: t and {:.6g} dB/ns from {:.6g} ns on, at most {:.6g} dB", rate, start * 1e9, limit));
}

void process(FieldLine& line, const LineProcessing& steps) {
  if (steps.time_zero) cut_to_time_zero(line, *steps.time_zero);
  if (steps.dewow) dewow(line, *steps.dewow);
  if (steps.background) remove_background(line, *steps.background);
  if (steps.dt) resample(line, *steps.dt);
  if (steps.eps_r_2d) to_2d(line, *steps.eps_r_2d);
  if (steps.gain) apply_gain(line, *steps.gain, steps.gain_limit);
}

}  // namespace sonde::maxwell
