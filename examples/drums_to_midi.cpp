// SPDX-License-Identifier: Apache-2.0
// Turns stems of drums into a MIDI file and compares it with what was played, in forty lines:
// drums_to_midi STEMS PLAYED.csv OUT.mid
#include <cstdio>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/separate/events/stem_events.h"

int main(int argc, char** argv) {
  using namespace sonde;
  if (argc != 4) return std::fprintf(stderr, "usage: drums_to_midi STEMS PLAYED.csv OUT.mid\n"), 2;
  try {
    separate::EventSettings settings;
    settings[separate::Drum::hihat].onsets.gap_ms = 50;

    std::vector<separate::StemEvents> stems;
    std::size_t events = 0;
    for (const separate::StemFile& file : separate::stems_among({argv[1]})) {
      stems.push_back(separate::read_events(file, settings));
      events += stems.back().events.size();
    }
    AtomicFile midi(argv[3]);
    midi.write(separate::midi_bytes(separate::midi_tracks(stems, settings), {.tempo = 100}));
    midi.commit();

    const separate::Matching score = separate::pooled(separate::score_drums(
        stems, separate::read_reference(argv[2]), settings, /*within_s=*/0.05, separate::Counted::merged));
    std::printf("%s: %zu events, F %.3f\n", argv[3], events, score.f_measure());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return exit_status(error.kind());
  }
}
