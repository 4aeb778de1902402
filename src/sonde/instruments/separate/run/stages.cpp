// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/stages.h"

#include <memory>
#include <utility>

#include "sonde/instruments/separate/run/record.h"
#include "sonde/instruments/separate/run/stem_source.h"

namespace sonde::separate {

void separate_in_stages(const Stage& first, const Stage& second, const SeparationTask& song, const SeparationTask& stem,
                        const std::function<void(std::size_t stage, const SeparationResult&)>& finished) {
  const auto stem_before = complete_before(stem, second.settings, second.config);
  SeparationSettings of_song = first.settings;
  of_song.keep = !stem_before;
  SeparationResult made;
  if (auto before = complete_before(song, of_song, first.config)) {
    made = *std::move(before);
  } else {
    first.separate(song, of_song, [&made](const SeparationResult& result) { made = result; });
  }
  const std::shared_ptr<Spool> kept = std::move(made.kept);
  try {
    finished(0, made);
    if (stem_before) return finished(1, *stem_before);
    StemSource source = *stem.source;
    source.kept = kept;
    SeparationTask of_kept = stem;
    of_kept.source = std::make_shared<const StemSource>(std::move(source));
    second.separate(of_kept, second.settings, [&](const SeparationResult& result) {
      kept->remove();  // all of it has been read
      finished(1, result);
    });
  } catch (...) {
    if (kept) abandon(*kept);
    throw;
  }
}

}  // namespace sonde::separate
