// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// 10 log10((sum s^2 + 1e-8) / (sum (s - e)^2 + 1e-8)) over all channels and samples of a stem s and its estimate e,
/// both (channels, samples): the signal-to-distortion ratio of Music-Source-Separation-Training.
[[nodiscard]] double sdr_db(View<const float, 2> truth, View<const float, 2> estimate);

/// The same for any loudness of the estimate: 10 log10(|a s|^2 / |a s - e|^2), a = <e, s> / <s, s>, channels one after
/// the other (Le Roux et al. 2019, "SDR: half-baked or well done?", equation 5). Not-a-number for a silent stem, minus
/// infinity for a silent estimate, infinity for one without any error.
[[nodiscard]] double si_sdr_db(View<const float, 2> truth, View<const float, 2> estimate);

/// Windows of equal length along a signal.
struct Frames {
  Index window = 0, hop = 0;  ///< samples, >= 1

  /// floor((samples - window + hop) / hop), all of them full; 1, which is the whole signal, where this is below 2.
  [[nodiscard]] Index count(Index samples) const;
  /// The samples of one of them.
  template <class T>
  [[nodiscard]] View<T, 2> part(View<T, 2> of, Index frame) const {
    if (count(of.extent[1]) == 1) return of;
    of.data += frame * hop * of.stride[1];
    of.extent[1] = window;
    return of;
  }
};

/// sdr_db() of every frame, not-a-number where the stem is silent (the way of museval: Stoter, Liutkus and Ito 2018).
[[nodiscard]] std::vector<double> framewise_sdr_db(View<const float, 2> truth, View<const float, 2> estimate,
                                                   const Frames& frames);

/// median() of those that are numbers; not-a-number where none is.
[[nodiscard]] double median_of_numbers(std::vector<double> values);

/// Whether every sample is zero.
[[nodiscard]] bool is_silent(View<const float, 2> samples);

}  // namespace sonde::separate
