// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/signal/resample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <complex>
#include <numbers>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft1d.h"

namespace sonde::maxwell {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

struct SeriesScratch {
  std::vector<double> outer, inner;  // padded
  std::vector<Complex> spectrum;     // of the inner series; its beginning is that of the outer one
};

/// Both ways between n outer samples and n ratio inner ones. With F_k = taper_k exp(2 pi i k shift / N) / N over the N
/// padded outer samples, and w the window,
///   raise: inner_m = w_m sum over signed k of F_k exp(2 pi i k m / (N ratio)) sum over i of outer_i exp(-2 pi i k i/N)
/// and lower is its transpose. Downsampling is lower / ratio.
class Resampler {
 public:
  Resampler(const Resampling& how, double offset, Index samples)
      : ratio_(how.ratio),
        samples_(samples),
        padded_(samples + static_cast<Index>(how.time_pad_frac * static_cast<double>(samples))),
        outer_(RealFft1d<double>::prepare({.length = padded_})),
        inner_(RealFft1d<double>::prepare({.length = padded_ * ratio_})) {
    // Inner sample m is at outer sample m / ratio + shift.
    const double shift = offset / static_cast<double>(ratio_) - offset;
    make_filter(how.freq_taper_frac, shift);
    if (how.time_taper) make_window();
  }

  void raise(double factor, View<const double, 2> outer, View<double, 2> inner) const {
    each_series(outer.extent[0], [&](Index series, SeriesScratch& scratch, Stream& stream) {
      for (Index i = 0; i < samples_; ++i) scratch.outer[static_cast<std::size_t>(i)] = outer(series, i);
      std::fill(scratch.outer.begin() + samples_, scratch.outer.end(), 0);
      outer_.forward(stream, row(scratch.outer), row(scratch.spectrum, outer_.frequencies()));
      for (std::size_t k = 0; k < filter_.size(); ++k) scratch.spectrum[k] *= filter_[k];
      std::fill(scratch.spectrum.begin() + outer_.frequencies(), scratch.spectrum.end(), 0);
      inner_.inverse(stream, row(scratch.spectrum), row(scratch.inner));
      for (Index m = 0; m < samples_ * ratio_; ++m)
        inner(series, m) = factor * window(m) * scratch.inner[static_cast<std::size_t>(m)];
    });
  }

  void lower(double factor, View<const double, 2> inner, View<double, 2> outer) const {
    each_series(inner.extent[0], [&](Index series, SeriesScratch& scratch, Stream& stream) {
      for (Index m = 0; m < samples_ * ratio_; ++m)
        scratch.inner[static_cast<std::size_t>(m)] = window(m) * inner(series, m);
      std::fill(scratch.inner.begin() + samples_ * ratio_, scratch.inner.end(), 0);
      inner_.forward(stream, row(scratch.inner), row(scratch.spectrum));
      for (std::size_t k = 0; k < filter_.size(); ++k) scratch.spectrum[k] *= std::conj(filter_[k]);
      outer_.inverse(stream, row(scratch.spectrum, outer_.frequencies()), row(scratch.outer));
      for (Index i = 0; i < samples_; ++i) outer(series, i) = factor * scratch.outer[static_cast<std::size_t>(i)];
    });
  }

 private:
  void make_filter(double taper_part, double shift) {
    const Index frequencies = outer_.frequencies();
    const auto tapered = static_cast<Index>(taper_part * static_cast<double>(frequencies));
    for (Index k = 0; k < frequencies; ++k) {
      const Index in_taper = k - (frequencies - tapered) + 1;  // 1 ... tapered
      double weight = 1;
      if (in_taper > 0) weight = (1 + std::cos(pi * static_cast<double>(in_taper) / static_cast<double>(tapered))) / 2;
      // Alternating signs say nothing of the phase: the Nyquist frequency cannot be shifted.
      if (2 * k == padded_) weight = 0;
      filter_.push_back(std::polar(weight / static_cast<double>(padded_),
                                   2 * pi * static_cast<double>(k) * shift / static_cast<double>(padded_)));
    }
  }

  void make_window() {
    const Index length = samples_ * ratio_;
    for (Index m = 0; m < length; ++m)
      window_.push_back((1 - std::cos(2 * pi * static_cast<double>(m) / static_cast<double>(length - 1))) / 2);
  }
  [[nodiscard]] double window(Index m) const { return window_.empty() ? 1 : window_[static_cast<std::size_t>(m)]; }

  template <class T>
  static View<T, 2> row(std::vector<T>& elements) {
    return row(elements, static_cast<Index>(elements.size()));
  }
  template <class T>
  static View<T, 2> row(std::vector<T>& elements, Index count) {
    return View<T, 2>(elements.data(), 1, count);
  }

  template <class Body>
  void each_series(Index count, Body body) const {
    PerWorker<SeriesScratch> scratch([&] {
      return SeriesScratch{std::vector<double>(static_cast<std::size_t>(padded_)),
                           std::vector<double>(static_cast<std::size_t>(padded_ * ratio_)),
                           std::vector<Complex>(static_cast<std::size_t>(inner_.frequencies()))};
    });
    parallel_for(count, 1, [&](Index first, Index last, Worker& worker) {
      Stream stream;
      for (Index series = first; series < last; ++series) body(series, scratch[worker], stream);
    });
  }

  Index ratio_, samples_, padded_;
  RealFft1d<double> outer_, inner_;
  std::vector<Complex> filter_;
  std::vector<double> window_;  // empty without a taper in time
};

void copy_series(View<const double, 2> from, View<double, 2> to) {
  for (Index series = 0; series < from.extent[0]; ++series)
    for (Index i = 0; i < from.extent[1]; ++i) to(series, i) = from(series, i);
}

void require_fraction(std::string_view name, double fraction) {
  if (fraction >= 0 && fraction <= 1) return;
  throw Error(ErrorKind::bad_input, fmt::format("{} = {}; expected 0 to 1", setting(name), fraction));
}

/// Outer to inner, times factor.
void raise_series(const Resampling& how, double offset, double factor, View<const double, 2> outer,
                  View<double, 2> inner) {
  require_valid(how);
  assert(inner.extent[0] == outer.extent[0] && inner.extent[1] == outer.extent[1] * how.ratio);
  if (how.ratio == 1) return copy_series(outer, inner);
  if (outer.count() > 0) Resampler(how, offset, outer.extent[1]).raise(factor, outer, inner);
}

/// Inner to outer, times factor.
void lower_series(const Resampling& how, double offset, double factor, View<const double, 2> inner,
                  View<double, 2> outer) {
  require_valid(how);
  assert(inner.extent[0] == outer.extent[0] && inner.extent[1] == outer.extent[1] * how.ratio);
  if (how.ratio == 1) return copy_series(inner, outer);
  if (outer.count() > 0) Resampler(how, offset, outer.extent[1]).lower(factor, inner, outer);
}

}  // namespace

void require_valid(const Resampling& how) {
  if (how.ratio < 1)
    throw Error(ErrorKind::bad_input, fmt::format("ratio of time steps = {}; expected at least 1", how.ratio));
  require_fraction("freq_taper_frac", how.freq_taper_frac);
  require_fraction("time_pad_frac", how.time_pad_frac);
}

void upsample(const Resampling& how, double offset, View<const double, 2> outer, View<double, 2> inner) {
  raise_series(how, offset, 1, outer, inner);
}

void upsample_transpose(const Resampling& how, double offset, View<const double, 2> inner, View<double, 2> outer) {
  lower_series(how, offset, 1, inner, outer);
}

void downsample(const Resampling& how, double offset, View<const double, 2> inner, View<double, 2> outer) {
  lower_series(how, offset, 1 / static_cast<double>(how.ratio), inner, outer);
}

void downsample_transpose(const Resampling& how, double offset, View<const double, 2> outer, View<double, 2> inner) {
  raise_series(how, offset, 1 / static_cast<double>(how.ratio), outer, inner);
}

}  // namespace sonde::maxwell
