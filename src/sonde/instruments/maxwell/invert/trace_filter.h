// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/math/fft1d.h"

namespace sonde::maxwell {

/// Spectra of real traces that are followed by zeros to at least twice their length, so that a filter does not wrap.
class TraceSpectrum {
 public:
  using Complex = std::complex<double>;
  /// Throws Error(bad_input) for no samples.
  explicit TraceSpectrum(Index samples);

  [[nodiscard]] Index samples() const { return samples_; }
  [[nodiscard]] Index padded() const { return fft_.key().length; }
  [[nodiscard]] Index frequencies() const { return fft_.frequencies(); }
  /// Of frequency k, in periods per sample: 0 to 1/2.
  [[nodiscard]] double frequency(Index k) const { return static_cast<double>(k) / static_cast<double>(padded()); }

  /// Memory of one transform.
  struct Scratch {
    std::vector<double> trace;      ///< [padded]
    std::vector<Complex> spectrum;  ///< [frequencies]
  };
  [[nodiscard]] Scratch scratch() const;
  /// Unscaled, into scratch.spectrum.
  void forward(View<const double, 1> trace, Scratch& scratch) const;
  /// From scratch.spectrum to scratch.trace; forward and then inverse multiplies by padded().
  void inverse(Scratch& scratch) const;

 private:
  Index samples_;
  RealFft1d<double> fft_;
};

/// A linear filter of traces in time: their spectra times a response. Traces are the rows of Views with any strides;
/// `out` may be `in`. They run in parallel; results do not depend on threads. Views of another length are an
/// Error(internal).
class TraceFilter {
 public:
  using Complex = std::complex<double>;
  /// `response`: of the frequencies of `spectrum`.
  TraceFilter(TraceSpectrum spectrum, std::vector<Complex> response);

  [[nodiscard]] Index samples() const { return spectrum_.samples(); }
  void apply(View<const double, 2> in, View<double, 2> out) const { run(in, out, false); }
  /// The exact transpose: the conjugate response. A real response is its own.
  void apply_transpose(View<const double, 2> in, View<double, 2> out) const { run(in, out, true); }
  /// The standard deviation of filtered white noise over that before, as the root of its mean square over a trace.
  [[nodiscard]] double noise_gain() const;

 private:
  void run(View<const double, 2> in, View<double, 2> out, bool transpose) const;

  TraceSpectrum spectrum_;
  std::vector<Complex> response_;  // over padded()
};

}  // namespace sonde::maxwell
