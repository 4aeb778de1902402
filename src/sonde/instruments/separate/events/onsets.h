// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// What is followed to find where something begins.
enum class Detection {
  flux,    ///< how much the spectrum grows: SuperFlux (Boeck and Widmer, DAFx 2013)
  energy,  ///< the root mean square of 2048 samples, every 512
  peak,    ///< the largest magnitude within 3 ms
};

/// Frequencies, Hz.
struct Range {
  double low = 0, high = 0;
};

struct OnsetSettings {
  Detection detection = Detection::flux;
  double gap_ms = 50;                        ///< between two onsets; of closer ones the later is dropped
  double merge_ms = 100;                     ///< onsets of two channels within it are one
  double threshold = 0.1;                    ///< flux: above the mean around it; 1: all bands grow
  std::vector<Range> ranges{{27.5, 17000}};  ///< flux: where to look, each range counting as much
  double prominence_db = 12;  ///< energy, peak: how far it rises from the deeper of the valleys beside it
  double sharpness = 0.1;     ///< least rise of the level within 10 ms, of what it was; 0: it must not fall
  double floor_db = -45;      ///< energy, peak: what is lower, from the loudest place of the stem, is silence
};

/// Where something begins.
struct Onset {
  Index sample = 0;
  double strength = 0;  ///< 0 to 1: the flux or the level over the floor, 1 being the largest of the stem
};

/// The onsets of a stem at 44.1 kHz (or near it), samples (channels, count), in order of time.
///
/// flux: magnitudes of frames of 2048 samples every 256, in triangular bands, 24 to the octave from 27.5 Hz to 17 kHz,
/// log(1 + 1000 m / largest m); the mean over the bands of what is above the largest of three neighbouring bands two
/// frames earlier, at most 1 in each: so that what begins out of silence counts no more than what begins over a decay.
/// An onset is the largest within 30 ms and at least `threshold` above the mean from 100 ms before to 70 ms after.
/// energy and peak: local maxima of the level in dB by their topographic prominence, followed back to the last place
/// where the level rose by less than 1 dB.
///
/// Each onset is then moved to the sample, within the frame that it was found in, where the largest magnitude of 1 ms
/// first rises half as steeply as it does anywhere there; where the level then does not rise by `sharpness` it is a
/// swell of what sounds already, or the end of it, and dropped. Channels are searched one by one, with one scale for
/// all; an onset of one within merge_ms of one of another is the same, at the earlier time.
///
/// Memory: one number for each frame beside the samples. Costs 5 N log2 N of each frame.
[[nodiscard]] std::vector<Onset> find_onsets(View<const float, 2> samples, Index rate, const OnsetSettings& settings);

/// hann_window() in float32.
[[nodiscard]] std::vector<float> hann(Index length);

/// The topographic prominence of every element: its height above the higher one of the lowest places on the ways to
/// higher elements on its left and right; the ends count as places of height `outside`. O(n).
[[nodiscard]] std::vector<double> prominences(const std::vector<double>& heights, double outside);

}  // namespace sonde::separate
