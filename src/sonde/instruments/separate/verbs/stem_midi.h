// SPDX-License-Identifier: Apache-2.0
// What verbs say of the events of stems, and the MIDI file beside stems that were just written.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/events/stem_events.h"
#include "sonde/instruments/separate/run/outputs.h"

namespace sonde::separate {

/// The drums among the outputs of one file, and where their MIDI file goes: the name of a stem with `drums` in place of
/// that of the drum.
struct StemMidi {
  std::string path;
  std::vector<StemFile> stems{};
};
/// Throws Error(bad_input) where no output has the name of a drum.
[[nodiscard]] StemMidi midi_beside(const std::vector<Output>& outputs, const std::vector<std::string>& paths);
/// What write_stem_midi() takes for stems of that length.
[[nodiscard]] std::size_t stem_midi_bytes(double seconds);
/// Reads the stems again, each as a whole, and writes their events with the settings that need not be given.
void write_stem_midi(const StemMidi& midi, Run& run);

/// Finds the events of each stem, says how many and adds them to `list`.
[[nodiscard]] std::vector<StemEvents> find_in_stems(const std::vector<StemFile>& files, const EventSettings& settings,
                                                    sonde::Value& list, Run& run);
/// And says so.
void write_text_file(const std::string& path, const std::string& text, Run& run);

}  // namespace sonde::separate
