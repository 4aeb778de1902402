// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/run_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/memory/scratch_file.h"
#include "sonde/instruments/separate/run/stem_source.h"
#include "sonde/instruments/separate/verbs/expected_time.h"

namespace sonde::separate {

Work say_work(const std::vector<SeparationTask>& tasks, const SeparationSettings& settings, const Config& config,
              sonde::Value& results, Run& run) {
  const DemixSettings joining = demix_settings(config, settings);
  const double gmac = multiplications(layer_list(config)) / 1e9;
  Work work;
  for (const SeparationTask& task : tasks) {
    const AudioReader reader = open_input(task, settings.reading);
    const SourceLength source = task.source
                                    ? task.source->song_length
                                    : SourceLength{.rate = reader.info().rate, .samples = reader.source_frames()};
    AudioWriteOptions file = settings.writing.file;
    if (settings.writing.keep_rate) file.rate = source.rate;
    check(file);
    const Index passes = network_passes(config, settings, reader.frames());
    const double seconds = static_cast<double>(reader.frames()) / static_cast<double>(config.sample_rate);
    work.passes += passes, work.audio_s += seconds, work.longest_s = std::max(work.longest_s, seconds);
    work.kept_bytes = std::max(work.kept_bytes, kept_bytes(config, settings, reader.frames()));
    if (!clips(file)) {
      const Index written = settings.writing.keep_rate ? source.samples : reader.frames();
      const double stems =
          4.0 * static_cast<double>(written * file.channels) * static_cast<double>(task.outputs.size());
      work.stem_bytes += stems;
      if (settings.preview) work.replaced_bytes = std::max(work.replaced_bytes, stems);
    }
    run.say(fmt::format("input       {}: {}, {} channel{}, {} Hz, {:.2f} s, {} chunks", task.input,
                        reader.info().format, reader.info().channels, reader.info().channels == 1 ? "" : "s",
                        reader.info().rate, seconds, passes));
  }
  run.say(fmt::format("chunks      {} of {} samples, every {} ({:.4g} % overlap, {} cover a sample); {:.4g} GMAC",
                      work.passes, config.chunk, joining.step(),
                      100 * (1 - static_cast<double>(joining.step()) / static_cast<double>(config.chunk)),
                      joining.overlap, gmac * static_cast<double>(work.passes)));
  results["chunks"] = work.passes;
  results["gmac"] = gmac * static_cast<double>(work.passes);
  return work;
}

std::optional<double> say_time(const Work& work, const Config& config, const std::vector<ConvolutionMethod>& methods,
                               sonde::Value& results, Run& run) {
  const auto chunk_s = expected_chunk_seconds(config, methods, run);
  if (!chunk_s) {
    run.say("times       not known: the memory that may be held has no space to measure them");
    return std::nullopt;
  }
  const double seconds = chunk_s->value * static_cast<double>(work.passes);
  run.say(fmt::format("times       {} expected for {:.2f} s of audio: {} a chunk, {}", format_seconds(seconds),
                      work.audio_s, format_seconds(chunk_s->value), chunk_s->because));
  results["run"]["expected_s"] = seconds;
  results["run"]["expected_chunk_s"] = chunk_s->value;
  return seconds;
}

void require_room_on_disk(const std::string& folder, double bytes) {
  std::filesystem::path there = absolute_path(folder);
  while (!is_folder(there) && there.has_relative_path()) there = there.parent_path();
  const auto free = static_cast<double>(free_disk_bytes(there.string()));
  if (bytes <= free) return;
  throw Error(ErrorKind::io, fmt::format("{}: {} free on the disk; the stems and what is kept meanwhile take {}",
                                         folder, format_bytes(free), format_bytes(bytes)))
      .hint(fmt::format("free space there, choose a folder on another disk, or write fewer {} or {} flac",
                        setting("stems"), setting("format")));
}

}  // namespace sonde::separate
