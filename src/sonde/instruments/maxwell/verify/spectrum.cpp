// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/spectrum.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace sonde::maxwell {

Complex spectrum(const Signal& signal, double w) {
  Complex sum = 0;
  for (std::size_t n = 0; n < signal.samples.size(); ++n)
    sum += signal.samples[n] * std::polar(1.0, -w * (static_cast<double>(n) + signal.offset) * signal.dt);
  return sum * signal.dt;
}

Signal response(const Signal& source, const Transfer& transfer, const Signal& like, double highest) {
  Signal made = like;
  std::ranges::fill(made.samples, 0.0);
  // A sum over frequencies repeats in time; at odd multiples of half a step the response comes back with the other
  // sign, after eight records, and no value at frequency 0 is needed, where closed forms divide by it.
  const double period = 8 * static_cast<double>(like.samples.size()) * like.dt, step = 2 * std::numbers::pi / period;
  const auto count = static_cast<Index>(std::ceil(highest * period));
  for (Index i = 0; i < count; ++i) {
    const double w = (static_cast<double>(i) + 0.5) * step;
    const Complex value = spectrum(source, w) * transfer(w) * step / std::numbers::pi;
    for (std::size_t n = 0; n < made.samples.size(); ++n)
      made.samples[n] += (value * std::polar(1.0, w * (static_cast<double>(n) + made.offset) * made.dt)).real();
  }
  return made;
}

double distance(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += (a[n] - b[n]) * (a[n] - b[n]);
  return std::sqrt(sum);
}

double dot(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}

double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

double largest_difference(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  double most = 0;
  for (std::size_t n = 0; n < a.size(); ++n) most = std::max(most, std::abs(a[n] - b[n]));
  return most;
}

double largest(std::span<const double> a) {
  double most = 0;
  for (const double value : a) most = std::max(most, std::abs(value));
  return most;
}

double decibel(double amplitude_ratio) { return 20 * std::log10(amplitude_ratio); }

}  // namespace sonde::maxwell
