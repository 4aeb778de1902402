// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/signal/wavelet.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <complex>
#include <numbers>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/math/fft1d.h"

namespace sonde::maxwell {
namespace {

using std::numbers::pi;

struct Shape {
  std::string_view name;
  double (*at)(const Wavelet&, double t, double dt);
};

/// p = pi f (t - t0) of the native set.
double phase(const Wavelet& w, double t) { return pi * w.frequency * (t - w.delay.value_or(1 / w.frequency)); }

constexpr Shape native_shapes[] = {
    {"ricker",
     [](const Wavelet& w, double t, double) {
       const double u = std::pow(phase(w, t), 2);
       return (1 - 2 * u) * std::exp(-u);
     }},
    {"gaussian", [](const Wavelet& w, double t, double) { return std::exp(-std::pow(phase(w, t), 2)); }},
    {"gaussian_derivative",
     [](const Wavelet& w, double t, double) {
       const double p = phase(w, t);
       return -std::sqrt(2 * std::numbers::e) * p * std::exp(-p * p);
     }},
    {"morlet",
     [](const Wavelet& w, double t, double) {
       const double p = phase(w, t);
       return std::cos(2 * p) * std::exp(-std::pow(p / w.cycles, 2));
     }},
    {"sine_burst",
     [](const Wavelet& w, double t, double) {
       const double p = phase(w, t);
       return std::abs(p) < pi * w.cycles / 2 ? std::cos(2 * p) * (1 + std::cos(2 * p / w.cycles)) / 2 : 0;
     }},
};

/// g = exp(-zeta x^2) and its derivatives, for the set of gprMax.
struct Bell {
  double x, zeta;
  [[nodiscard]] double height() const { return std::exp(-zeta * x * x); }
  [[nodiscard]] double slope() const { return -2 * zeta * x * height(); }
  [[nodiscard]] double curvature() const { return 2 * zeta * (2 * zeta * x * x - 1) * height(); }
};

Bell first_bell(const Wavelet& w, double t) { return {t - 1 / w.frequency, 2 * std::pow(pi * w.frequency, 2)}; }
Bell second_bell(const Wavelet& w, double t) {
  return {t - std::numbers::sqrt2 / w.frequency, std::pow(pi * w.frequency, 2)};
}
double slope_of_first(const Wavelet& w, double t, double) { return first_bell(w, t).slope(); }
double normalised_curvature(const Wavelet& w, double t, double) {
  const Bell bell = second_bell(w, t);
  return bell.curvature() / (2 * bell.zeta);
}

constexpr Shape gprmax_shapes[] = {
    {"gaussian", [](const Wavelet& w, double t, double) { return first_bell(w, t).height(); }},
    {"gaussiandot", slope_of_first},
    {"gaussianprime", slope_of_first},
    {"gaussiandotnorm",
     [](const Wavelet& w, double t, double) {
       const Bell bell = first_bell(w, t);
       return bell.slope() * std::sqrt(std::numbers::e / (2 * bell.zeta));
     }},
    {"gaussiandoubleprime", [](const Wavelet& w, double t, double) { return first_bell(w, t).curvature(); }},
    {"gaussiandotdot", [](const Wavelet& w, double t, double) { return second_bell(w, t).curvature(); }},
    {"gaussiandotdotnorm", normalised_curvature},
    {"ricker", [](const Wavelet& w, double t, double dt) { return -normalised_curvature(w, t, dt); }},
    {"sine",
     [](const Wavelet& w, double t, double) {
       const double periods = w.frequency * t;
       return periods >= 0 && periods <= 1 ? std::sin(2 * pi * periods) : 0;
     }},
    {"contsine",
     [](const Wavelet& w, double t, double) {
       const double periods = w.frequency * t;
       return periods >= 0 ? std::min(periods / 4, 1.0) * std::sin(2 * pi * periods) : 0;
     }},
    // As gprMax has it, t = 0 belongs to an impulse of any length.
    {"impulse", [](const Wavelet&, double t, double dt) { return t == 0 || (t > 0 && t < dt) ? 1.0 : 0.0; }},
};

std::span<const Shape> shapes_of(WaveletFamily family) {
  if (family == WaveletFamily::gprmax) return gprmax_shapes;
  return native_shapes;
}

void require_positive(const Wavelet& wavelet, std::string_view what, double number, std::string_view unit = "") {
  if (std::isfinite(number) && number > 0) return;
  throw Error(ErrorKind::bad_input,
              fmt::format("wavelet \"{}\": {} = {}{}; expected a number > 0", wavelet.name, what, number, unit));
}

const Shape& shape_of(const Wavelet& wavelet) {
  const std::span<const Shape> shapes = shapes_of(wavelet.family);
  const auto found = std::ranges::find(shapes, wavelet.name, &Shape::name);
  if (found != shapes.end()) return *found;
  const std::vector<std::string> names = wavelet_names(wavelet.family);
  throw Error(ErrorKind::bad_input,
              fmt::format("unknown wavelet \"{}\"{}", wavelet.name, did_you_mean(wavelet.name, names)))
      .hint(fmt::format("the wavelets are {}", join_words(names)));
}

/// The shape of a wavelet that is valid.
const Shape& valid_shape(const Wavelet& wavelet) {
  const Shape& shape = shape_of(wavelet);
  require_positive(wavelet, "frequency", wavelet.frequency, " Hz");
  require_positive(wavelet, "cycles", wavelet.cycles);
  if (!std::isfinite(wavelet.amplitude))
    throw Error(ErrorKind::bad_input, fmt::format("wavelet \"{}\": amplitude = {}; expected a finite number",
                                                  wavelet.name, wavelet.amplitude));
  if (wavelet.delay && wavelet.family == WaveletFamily::gprmax)
    throw Error(ErrorKind::bad_input,
                fmt::format("wavelet \"{}\": delay = {} s; the delay of a gprMax wavelet follows from its frequency",
                            wavelet.name, *wavelet.delay));
  if (wavelet.delay && !std::isfinite(*wavelet.delay))
    throw Error(ErrorKind::bad_input,
                fmt::format("wavelet \"{}\": delay = {} s; expected a finite number", wavelet.name, *wavelet.delay));
  return shape;
}

template <class At>
std::vector<double> at_samples(Index count, double dt, double offset, At at) {
  assert(count >= 0);
  std::vector<double> samples;
  samples.reserve(static_cast<std::size_t>(count));
  for (Index n = 0; n < count; ++n) samples.push_back(at((static_cast<double>(n) + offset) * dt));
  return samples;
}

/// Amplitudes of the spectrum at k / (length dt), k = 0 ... length / 2.
std::vector<double> amplitudes(std::span<const double> samples, Index length) {
  std::vector<double> padded(static_cast<std::size_t>(length));
  std::ranges::copy(samples, padded.begin());
  const auto fft = RealFft1d<double>::prepare({.length = length});
  std::vector<std::complex<double>> spectrum(static_cast<std::size_t>(fft.frequencies()));
  Stream stream;
  fft.forward(stream, View<const double, 2>(padded.data(), 1, length),
              View<std::complex<double>, 2>(spectrum.data(), 1, fft.frequencies()));
  std::vector<double> result;
  result.reserve(spectrum.size());
  for (const std::complex<double>& number : spectrum) result.push_back(std::abs(number));
  return result;
}

}  // namespace

std::vector<std::string> wavelet_names(WaveletFamily family) {
  std::vector<std::string> names;
  for (const Shape& shape : shapes_of(family)) names.emplace_back(shape.name);
  return names;
}

void require_valid(const Wavelet& wavelet) { (void)valid_shape(wavelet); }

double value(const Wavelet& wavelet, double t, double dt) {
  return wavelet.amplitude * valid_shape(wavelet).at(wavelet, t, dt);
}

std::vector<double> sampled(const Wavelet& wavelet, Index count, double dt, double offset) {
  const Shape& shape = valid_shape(wavelet);
  return at_samples(count, dt, offset, [&](double t) { return wavelet.amplitude * shape.at(wavelet, t, dt); });
}

void require_valid(const WaveletTable& table) {
  if (table.times.size() != table.values.size() || table.times.empty())
    throw Error(ErrorKind::bad_input,
                fmt::format("wavelet \"{}\": {} times and {} values; expected as many, at least 1", table.name,
                            table.times.size(), table.values.size()));
  const auto bad = std::ranges::adjacent_find(table.times, [](double a, double b) { return !(a < b); });
  if (bad != table.times.end())
    throw Error(ErrorKind::bad_input, fmt::format("wavelet \"{}\": time {} s is followed by {} s; expected later times",
                                                  table.name, *bad, *std::next(bad)));
}

double value(const WaveletTable& table, double t) {
  assert(table.times.size() == table.values.size());
  const auto after = std::ranges::lower_bound(table.times, t);
  if (after == table.times.end()) return 0;
  const auto i = static_cast<std::size_t>(after - table.times.begin());
  if (*after == t) return table.values[i];
  if (i == 0) return 0;
  const double fraction = (t - table.times[i - 1]) / (table.times[i] - table.times[i - 1]);
  return std::lerp(table.values[i - 1], table.values[i], fraction);
}

std::vector<double> sampled(const WaveletTable& table, Index count, double dt, double offset) {
  require_valid(table);
  return at_samples(count, dt, offset, [&](double t) { return value(table, t); });
}

double highest_frequency(std::span<const double> samples, double dt) {
  if (samples.empty()) return 0;
  // 8 times: between frequencies so close a spectrum of this length is nearly straight.
  const auto length = static_cast<Index>(std::bit_ceil(8 * samples.size()));
  const std::vector<double> amplitude = amplitudes(samples, length);
  const double threshold = 0.01 * std::ranges::max(amplitude);  // -40 dB
  if (threshold == 0) return 0;
  std::size_t last = amplitude.size() - 1;
  while (amplitude[last] < threshold) --last;
  double frequency = static_cast<double>(last);
  if (last + 1 < amplitude.size()) frequency += (amplitude[last] - threshold) / (amplitude[last] - amplitude[last + 1]);
  return frequency / (static_cast<double>(length) * dt);
}

}  // namespace sonde::maxwell
