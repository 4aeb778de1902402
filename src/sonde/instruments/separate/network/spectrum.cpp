// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/spectrum.h"

#include <algorithm>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/window.h"
#include "sonde/instruments/separate/network/spectrum_shape.h"

namespace sonde::separate {
namespace {

// Pieces of a loop over samples or frames: below this, handing them out costs more than they do.
constexpr Index samples_at_once = 8192;
constexpr Index frames_at_once = 8;

}  // namespace

SpectrumShape spectrum_shape(const Config& config) {
  return {.n_fft = config.n_fft,
          .hop = config.hop,
          .chunk = config.chunk,
          .frames = config.frames(),
          .audio_channels = config.audio_channels,
          .subbands = config.subbands,
          .band = config.band()};
}

std::vector<double> spectrum_weights(const Config& config) {
  const SpectrumShape shape = spectrum_shape(config);
  const std::vector<double> window = hann_window(config.n_fft);
  std::vector<double> weights(static_cast<std::size_t>(config.chunk));
  for (Index i = 0; i < config.chunk; ++i) {
    const Index p = i + config.n_fft / 2;
    double sum = 0;
    for (Index t = shape.first_covering(p); t <= shape.last_covering(p); ++t) {
      const double w = window[static_cast<std::size_t>(p - t * config.hop)];
      sum += w * w;
    }
    // Below this the quotient is rounding.
    if (sum <= 1e-11) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("audio.hop_length = {}: no window of audio.n_fft = {} covers sample {} "
                              "of a chunk; expected a smaller hop",
                              config.hop, config.n_fft, i));
    }
    weights[static_cast<std::size_t>(i)] = 1 / (sum * static_cast<double>(config.n_fft));
  }
  return weights;
}

template <class Real>
Spectrum<Real> Spectrum<Real>::prepare(const Config& config) {
  return {config, RealFft1d<Real>::prepare({.length = config.n_fft, .batch = config.frames()})};
}

template <class Real>
Spectrum<Real>::Spectrum(const Config& config, RealFft1d<Real> fft)
    : config_(config),
      fft_(std::move(fft)),
      windows_(static_cast<std::size_t>(config.frames() * config.n_fft)),
      lines_(static_cast<std::size_t>(config.frames() * fft_.frequencies())) {
  const std::vector<double> window = hann_window(config.n_fft), weights = spectrum_weights(config);
  window_.assign(window.begin(), window.end());
  weight_.assign(weights.begin(), weights.end());
}

template <class Real>
void Spectrum<Real>::forward(Stream& stream, View<const Real, 2> samples, View<Real, 3> values) {
  const SpectrumShape shape = spectrum_shape(config_);
  const Index band = shape.band, subbands = shape.subbands;
  const auto frames = windows();
  const auto spectra = lines();
  for (Index channel = 0; channel < config_.audio_channels; ++channel) {
    parallel_for(config_.frames(), frames_at_once, [&](Index begin, Index end, Worker&) {
      for (Index t = begin; t < end; ++t) {
        for (Index n = 0; n < config_.n_fft; ++n) {
          frames(t, n) = window_[static_cast<std::size_t>(n)] * samples(channel, shape.sample(t, n));
        }
      }
    });
    fft_.forward(stream, frames, spectra);
    parallel_for(config_.frames(), frames_at_once, [&](Index begin, Index end, Worker&) {
      for (Index t = begin; t < end; ++t) {
        for (Index s = 0; s < subbands; ++s) {
          for (Index f = 0; f < band; ++f) {
            const std::complex<Real> x = spectra(t, s * band + f);
            values(2 * channel * subbands + s, t, f) = x.real();
            values((2 * channel + 1) * subbands + s, t, f) = x.imag();
          }
        }
      }
    });
  }
}

template <class Real>
void Spectrum<Real>::inverse(Stream& stream, View<const Real, 3> values, View<Real, 2> samples) {
  const SpectrumShape shape = spectrum_shape(config_);
  const Index band = shape.band, subbands = shape.subbands;
  const auto frames = windows();
  const auto spectra = lines();
  for (Index channel = 0; channel < config_.audio_channels; ++channel) {
    parallel_for(config_.frames(), frames_at_once, [&](Index begin, Index end, Worker&) {
      for (Index t = begin; t < end; ++t) {
        for (Index s = 0; s < subbands; ++s) {
          for (Index f = 0; f < band; ++f) {
            spectra(t, s * band + f) = {values(2 * channel * subbands + s, t, f),
                                        values((2 * channel + 1) * subbands + s, t, f)};
          }
        }
        for (Index f = config_.dim_f; f < fft_.frequencies(); ++f) spectra(t, f) = 0;
      }
    });
    fft_.inverse(stream, spectra, frames);
    parallel_for(config_.chunk, samples_at_once, [&](Index begin, Index end, Worker&) {
      for (Index i = begin; i < end; ++i) {
        const Index p = i + config_.n_fft / 2;
        Real sum = 0;
        for (Index t = shape.first_covering(p), last = shape.last_covering(p); t <= last; ++t) {
          sum += window_[static_cast<std::size_t>(p - t * config_.hop)] * frames(t, p - t * config_.hop);
        }
        samples(channel, i) = sum * weight_[static_cast<std::size_t>(i)];
      }
    });
  }
}

template <class Real>
std::size_t Spectrum<Real>::bytes() const {
  return fft_.bytes() + sizeof(Real) * (window_.size() + weight_.size() + windows_.size() + 2 * lines_.size());
}

template <class Real>
std::size_t Spectrum<Real>::bytes_for(const Config& config) {
  const Index frame = config.n_fft + 2 * (config.n_fft / 2 + 1);
  return sizeof(Real) * static_cast<std::size_t>(config.n_fft + config.chunk + config.frames() * frame);
}

template class Spectrum<float>;
template class Spectrum<double>;

}  // namespace sonde::separate
