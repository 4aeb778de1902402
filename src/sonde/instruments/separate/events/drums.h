// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/events/onsets.h"

namespace sonde::separate {

/// Stems that are searched each in a way of its own.
enum class Drum { kick, snare, toms, hihat, cymbals };
constexpr std::size_t drum_count = 5;
/// "kick" and so on.
[[nodiscard]] std::string_view name(Drum drum);

/// What was hit.
enum class Hit {
  kick,
  snare,
  side_stick,
  clap,
  tom_low,
  tom_mid,
  tom_high,
  hihat_closed,
  hihat_open,
  hihat_pedal,
  crash,
  ride,
  china,
};
constexpr std::size_t hit_count = 13;

struct HitInfo {
  std::string_view name;  ///< "hihat_closed"
  Drum drum;
  Index note;  ///< of General MIDI's percussion
};
[[nodiscard]] const HitInfo& info(Hit hit);
/// By its name; nothing for other words.
[[nodiscard]] std::optional<Hit> hit_called(std::string_view name);
/// The stem that a note of General MIDI's percussion belongs to, with those of common electronic kits.
[[nodiscard]] std::optional<Drum> drum_of_note(Index note);

/// A stem by its name.
struct StemKind {
  Drum drum = Drum::kick;
  std::optional<Hit> hit{};  ///< of all its events: a stem `crash` has nothing else
};
/// Names without case: kick, bd, snare, sd, toms, hihat, hh, hi-hat, cymbals, crash, ride and more; also as a word of a
/// longer name, "song_(Kick)_model". Nothing for other names, and for those with words of two stems.
[[nodiscard]] std::optional<StemKind> stem_kind(std::string_view name);

/// How the events of one stem are found.
struct DrumSettings {
  OnsetSettings onsets{};
  double gate = 0.02;       ///< of the energy of a strong hit, below which an event is bleed of other drums
  double sustain_ms = 100;  ///< hi-hat: open from here on; cymbals: a crash
};

struct EventSettings {
  std::array<DrumSettings, drum_count> drums = defaults();
  std::array<Index, hit_count> notes = default_notes();
  double crash_hz = 3000;  ///< centroid of a crash at least
  bool pedal = false;      ///< a hihat_pedal where an open hi-hat ends before the next hit
  bool linear = false;     ///< velocities after the strength of the onset in place of the level in dB
  Index softest = 20, loudest = 120;
  double span_db = 6;  ///< levels closer together than this are not spread over all velocities

  [[nodiscard]] static std::array<DrumSettings, drum_count> defaults();
  [[nodiscard]] static std::array<Index, hit_count> default_notes();
  [[nodiscard]] DrumSettings& operator[](Drum drum) { return drums[static_cast<std::size_t>(drum)]; }
  [[nodiscard]] const DrumSettings& operator[](Drum drum) const { return drums[static_cast<std::size_t>(drum)]; }
  [[nodiscard]] Index note(Hit hit) const { return notes[static_cast<std::size_t>(hit)]; }
};

struct DrumEvent {
  double time_s = 0;
  Hit hit = Hit::kick;
  Index velocity = 0;
  double level_db = 0;   ///< the largest magnitude within 100 ms, 0 dB being 1
  double pan = 0;        ///< (right - left) / (right + left) of these magnitudes
  double strength = 0;   ///< of the onset, 0 to 1
  double sustain_s = 0;  ///< from the peak until the level has fallen by 20 dB, or to the next event
};

/// The events of one stem, samples (channels, count), in order of time.
///
/// An event is bleed of another drum, and dropped, where the geometric mean of its energies in the bands of its drum
/// (of 46 ms, each relative to the 95th percentile of all events) is below `gate`. Hi-hats are open when they sustain
/// for sustain_ms, and no louder hit before them does that in their place; cymbals are a crash when they do and their
/// spectral centroid is high, else a ride. Toms are sorted by their fundamental (autocorrelation from 60 to 250 Hz, 50
/// ms after the onset) into up to three classes, by k-means with the number that the Bayesian information criterion
/// prefers; one class is low, two are low and high.
///
/// Velocity: softest + (loudest - softest) (L - L5) / (L95 - L5), between both, with the percentiles of the stem's
/// levels L in dB, at least span_db apart.
[[nodiscard]] std::vector<DrumEvent> find_events(const StemKind& kind, View<const float, 2> samples, Index rate,
                                                 const EventSettings& settings);

/// The frequency between `lowest` and `highest` with the largest normalised autocorrelation; 0 where there is none, in
/// silence and where fewer samples are there than two periods of the lowest.
[[nodiscard]] double fundamental_hz(View<const float, 1> samples, Index rate, double lowest, double highest);

/// Which of up to three classes each value belongs to, 0 the lowest, by k-means and the Bayesian information criterion.
[[nodiscard]] std::vector<Index> classes_of(const std::vector<double>& values);

/// Linear between the sorted values; `part` from 0 to 1. 0 for no values.
[[nodiscard]] double percentile(std::vector<double> values, double part);

}  // namespace sonde::separate
