// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/separate/events/drums.h"
#include "sonde/instruments/separate/events/matching.h"
#include "sonde/instruments/separate/events/midi.h"
#include "sonde/instruments/separate/events/tempo.h"

namespace sonde::separate {

/// An audio file of one stem.
struct StemFile {
  std::string path, name;  ///< name: of the drum, or of the only hit
  StemKind kind{};
};

struct StemEvents {
  StemFile file;
  double seconds = 0;  ///< of audio
  std::vector<DrumEvent> events{};
  std::vector<double> levels_db{};  ///< the largest magnitude of each of `pieces` equal parts, for pictures
};

/// All stems are searched at this rate and with so many channels; other files are resampled.
constexpr Index event_rate = 44100, event_channels = 2;
/// Memory that a stem of so many samples (of each channel, at that rate) needs: the samples, one of their channels once
/// more while they are joined, curves, and what is being decoded.
[[nodiscard]] std::size_t event_bytes(Index samples);

/// The stems among files and folders: of a folder the audio files whose names are those of drums, each file else must
/// be one, or be given as kick=FILE. Throws Error(bad_input) for a file whose stem is not known, for two of one stem,
/// and where none is left.
[[nodiscard]] std::vector<StemFile> stems_among(const std::vector<std::string>& inputs);

/// Reads a stem as a whole and finds its events. Throws what AudioReader throws.
[[nodiscard]] StemEvents read_events(const StemFile& file, const EventSettings& settings, Index pieces = 1000);

/// The events of a reference that count for one score.
enum class Counted {
  merged,  ///< those closer than the gap of their drum are one
  raw,
};
struct DrumScore {
  Drum drum;
  Matching matching;
};
/// What all stems of each drum have found, beside its events of a reference. Drums without a stem are left out.
[[nodiscard]] std::vector<DrumScore> score_drums(std::span<const StemEvents> stems,
                                                 const std::vector<ReferenceEvent>& reference,
                                                 const EventSettings& settings, double within_s, Counted counted);
/// All of them together.
[[nodiscard]] Matching pooled(const std::vector<DrumScore>& scores);

/// find_tempo() of all events together, weighted by their velocities.
[[nodiscard]] std::optional<Tempo> tempo_of(std::span<const StemEvents> stems);

/// A track for each stem, notes of `note_s` each.
[[nodiscard]] std::vector<MidiTrack> midi_tracks(std::span<const StemEvents> stems, const EventSettings& settings,
                                                 double note_s = usual_note_s);

/// One line for each event, of all stems in order of time: time_s, stem, event, note, velocity, level_db, pan, strength
/// and sustain_s.
[[nodiscard]] std::string event_table(std::span<const StemEvents> stems, const EventSettings& settings);
/// The same as a list of objects.
[[nodiscard]] sonde::Value event_list(std::span<const StemEvents> stems, const EventSettings& settings);

}  // namespace sonde::separate
