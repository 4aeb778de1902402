// SPDX-License-Identifier: Apache-2.0
// Standard MIDI Files (MIDI 1.0, RP-001): what drums need of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::separate {

struct MidiNote {
  double time_s = 0, duration_s = 0;
  Index note = 0;        ///< 0 to 127
  Index velocity = 100;  ///< 1 to 127
  Index channel = 10;    ///< 1 to 16; 10 is percussion in General MIDI
};

struct MidiTrack {
  std::string name{};
  std::vector<MidiNote> notes{};
};

/// Distances to which notes are moved. A grid of 1/8 has eight places in a bar of four quarters.
struct Quantisation {
  double quarters = 0;  ///< between two places; 0: no grid
  double strength = 1;  ///< 0: no move, 1: onto the place
  double begin_s = 0;   ///< one of the places

  /// "1/8", "1/16", "1/8T" (triplets: three in the place of two), "off". Throws Error(usage) beginning with `where`.
  static Quantisation parse(std::string_view text, double strength, std::string_view where);
  [[nodiscard]] double moved(double time_s, double tempo) const;
};

struct MidiWriteOptions {
  Index format = 1;    ///< 0: one track; 1: the tempo, then one track for each
  double tempo = 120;  ///< quarters per minute
  Quantisation quantisation{};
};

/// Ticks of a quarter in the files that are written.
constexpr Index ticks_per_quarter = 480;
/// Notes are at least so long: zero-length ones are lost by some programs.
constexpr double shortest_note_s = 0.005;
/// Drums have no length: what their notes get.
constexpr double usual_note_s = 0.05;

/// A file of format 0 or 1: the tempo, notes without running status, note-off as 0x80, end of track. Each time is
/// rounded to a tick from its seconds, so that errors do not add up. A note ends before the next of the same pitch; two
/// of one pitch at one tick are one with the larger velocity. Throws Error(bad_input) for notes, velocities, times and
/// tempi that a file cannot hold.
[[nodiscard]] std::string midi_bytes(std::span<const MidiTrack> tracks, const MidiWriteOptions& options);

struct MidiFile {
  Index format = 0, tracks = 0;
  std::optional<double> tempo{};  ///< the first one in the file, quarters per minute
  std::vector<MidiNote> notes{};  ///< of all tracks and channels, in order of time; a note that is never ended: 0 s
};

/// Any bytes are a file, or an Error(bad_file) that names the byte. Format 2 is Error(not_supported).
[[nodiscard]] MidiFile parse_midi(std::string_view bytes, const std::string& name);

}  // namespace sonde::separate
