// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/trace_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::maxwell {
namespace {

/// The next length without prime factors above 5, which transforms fast.
Index smooth_length(Index least) {
  for (Index length = least;; ++length) {
    Index rest = length;
    for (const Index factor : {2, 3, 5})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return length;
  }
}

Index padded_length(Index samples) {
  if (samples < 1) throw Error(ErrorKind::bad_input, fmt::format("a trace has {} samples; at least 1", samples));
  return smooth_length(2 * samples);
}

}  // namespace

TraceSpectrum::TraceSpectrum(Index samples)
    : samples_(samples), fft_(RealFft1d<double>::prepare({.length = padded_length(samples)})) {}

TraceSpectrum::Scratch TraceSpectrum::scratch() const {
  return {std::vector<double>(static_cast<std::size_t>(padded())),
          std::vector<Complex>(static_cast<std::size_t>(frequencies()))};
}

void TraceSpectrum::forward(View<const double, 1> trace, Scratch& scratch) const {
  Stream stream;
  for (Index i = 0; i < samples_; ++i) scratch.trace[static_cast<std::size_t>(i)] = trace(i);
  std::fill(scratch.trace.begin() + samples_, scratch.trace.end(), 0.0);
  fft_.forward(stream, View<const double, 2>(scratch.trace.data(), 1, padded()),
               View<Complex, 2>(scratch.spectrum.data(), 1, frequencies()));
}

void TraceSpectrum::inverse(Scratch& scratch) const {
  Stream stream;
  fft_.inverse(stream, View<const Complex, 2>(scratch.spectrum.data(), 1, frequencies()),
               View<double, 2>(scratch.trace.data(), 1, padded()));
}

TraceFilter::TraceFilter(TraceSpectrum spectrum, std::vector<Complex> response)
    : spectrum_(std::move(spectrum)), response_(std::move(response)) {
  if (static_cast<Index>(response_.size()) != spectrum_.frequencies())
    throw Error(ErrorKind::internal, fmt::format("a response of {} frequencies for spectra of {}", response_.size(),
                                                 spectrum_.frequencies()));
  for (Complex& each : response_) each /= static_cast<double>(spectrum_.padded());
}

void TraceFilter::run(View<const double, 2> in, View<double, 2> out, bool transpose) const {
  if (in.extent[1] != samples() || out.extent[1] != samples() || in.extent[0] != out.extent[0])
    throw Error(ErrorKind::internal, fmt::format("a filter for {} samples of traces {} x {} to {} x {}", samples(),
                                                 in.extent[0], in.extent[1], out.extent[0], out.extent[1]));
  PerWorker<TraceSpectrum::Scratch> scratch([&] { return spectrum_.scratch(); });
  parallel_for(in.extent[0], 1, [&](Index first, Index last, Worker& worker) {
    TraceSpectrum::Scratch& mine = scratch[worker];
    for (Index trace = first; trace < last; ++trace) {
      spectrum_.forward(in[trace], mine);
      for (std::size_t k = 0; k < response_.size(); ++k)
        mine.spectrum[k] *= transpose ? std::conj(response_[k]) : response_[k];
      spectrum_.inverse(mine);
      for (Index i = 0; i < samples(); ++i) out(trace, i) = mine.trace[static_cast<std::size_t>(i)];
    }
  });
}

double TraceFilter::noise_gain() const {
  TraceSpectrum::Scratch scratch = spectrum_.scratch();
  scratch.spectrum = response_;
  spectrum_.inverse(scratch);
  // Each row of the matrix is the impulse response from another sample: a value counts as often as its lag occurs.
  const Index n = samples();
  double squares = 0;
  for (Index lag = 1 - n; lag < n; ++lag) {
    const double h = scratch.trace[static_cast<std::size_t>(lag < 0 ? lag + spectrum_.padded() : lag)];
    squares += static_cast<double>(n - std::abs(lag)) * h * h;
  }
  return std::sqrt(squares / static_cast<double>(n));
}

}  // namespace sonde::maxwell
