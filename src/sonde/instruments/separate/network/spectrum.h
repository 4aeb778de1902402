// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/fft1d.h"
#include "sonde/instruments/separate/network/config.h"

namespace sonde::separate {

/// Between the samples of a chunk and what the network sees of them: the short-time Fourier transform
///   X(f, t) = sum over n of w(n) x(t hop + n - n_fft / 2) exp(-2 pi i f n / n_fft),  w(n) = (1 - cos(2 pi n / n_fft))
///   / 2
/// of x continued by reflection at both ends, without a factor, and its least-squares inverse (Griffin and Lim 1984).
/// Real and imaginary part of audio channel a are channels 2 a and 2 a + 1; of these, sub-band s of channel j is
/// channel j subbands + s of the network. Frequencies from dim_f on are dropped, and zero on the way back.
///
/// Holds the scratch of one audio channel: one thread at a time. Any `Real` of float and double.
template <class Real>
class Spectrum {
 public:
  /// Throws Error(bad_input) where the windows leave a sample uncovered.
  static Spectrum prepare(const Config& config);

  /// (audio channels, chunk) to (input channels, frames, band).
  void forward(Stream& stream, View<const Real, 2> samples, View<Real, 3> values);
  /// (input channels, frames, band), one stem of the network's output, to (audio channels, chunk).
  void inverse(Stream& stream, View<const Real, 3> values, View<Real, 2> samples);
  /// Bytes held, and what they will be.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] static std::size_t bytes_for(const Config& config);

 private:
  Spectrum(const Config& config, RealFft1d<Real> fft);
  [[nodiscard]] View<Real, 2> windows() { return {windows_.data(), config_.frames(), config_.n_fft}; }
  [[nodiscard]] View<std::complex<Real>, 2> lines() { return {lines_.data(), config_.frames(), fft_.frequencies()}; }

  Config config_;
  RealFft1d<Real> fft_;
  std::vector<Real> window_;               ///< (n_fft)
  std::vector<Real> weight_;               ///< (chunk): 1 / (n_fft sum over t of w^2) at each sample
  std::vector<Real> windows_;              ///< (frames, n_fft)
  std::vector<std::complex<Real>> lines_;  ///< (frames, n_fft / 2 + 1)
};

extern template class Spectrum<float>;
extern template class Spectrum<double>;

}  // namespace sonde::separate
