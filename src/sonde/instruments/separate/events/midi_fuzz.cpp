// SPDX-License-Identifier: Apache-2.0
// Any bytes are a MIDI file, whose notes can be written again, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/separate/events/midi.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde::separate;
  try {
    const MidiFile midi = parse_midi({reinterpret_cast<const char*>(bytes), size}, "fuzz.mid");
    if (midi.notes.size() > size) std::abort();
    const MidiTrack track{.notes = midi.notes};
    const MidiFile again = parse_midi(midi_bytes({&track, 1}, {.tempo = midi.tempo.value_or(120)}), "again.mid");
    if (again.notes.size() > midi.notes.size()) std::abort();
  } catch (const sonde::Error&) {
  }
  return 0;
}
