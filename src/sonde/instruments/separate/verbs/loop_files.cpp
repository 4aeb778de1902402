// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/loop_files.h"

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/separate/audio/audio_writer.h"
#include "sonde/instruments/separate/verbs/stem_midi.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
void write_stems(const std::filesystem::path& folder, const std::vector<LoopStem>& stems, Index rate, Run& run) {
  for (const LoopStem& each : stems) {
    const std::string path = (folder / (each.name + ".wav")).string();
    AudioWriter writer(path, {.rate = rate, .channels = 2});
    writer.write(each.view());
    writer.commit();
    wrote(path, run, text_column);
  }
}

void write_hits(const std::filesystem::path& folder, const std::vector<PlayedHit>& hits, double tempo, Run& run) {
  write_text_file((folder / "events.csv").string(), hits_csv(hits), run);
  write_text_file((folder / "events.mid").string(), hits_midi(hits, tempo), run);
}

std::size_t loop_bytes(const LoopSettings& settings) {
  const auto samples = static_cast<std::size_t>(2 * settings.pattern.seconds * static_cast<double>(settings.rate));
  const std::size_t stems = drum_count + (settings.backing ? 1 : 0);
  return samples * ((stems + 1) * sizeof(float) + static_cast<std::size_t>(worker_limit()) * sizeof(double));
}

}  // namespace sonde::separate
