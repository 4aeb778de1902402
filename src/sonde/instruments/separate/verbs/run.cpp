// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/separate/run/stages.h"
#include "sonde/instruments/separate/verbs/noted_network.h"
#include "sonde/instruments/separate/verbs/run_options.h"
#include "sonde/instruments/separate/verbs/run_places.h"
#include "sonde/instruments/separate/verbs/run_report.h"
#include "sonde/instruments/separate/verbs/run_stage.h"
#include "sonde/instruments/separate/verbs/stem_midi.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

/// One, and what was asked for.
Choice<Index> choose_batch(const std::string& asked, Device device) {
  const std::string because =
      fmt::format("on {} the chunks of a batch pass one after another", device.is_cpu() ? "the CPU" : "a GPU");
  if (asked == "auto") return {1, because};
  const std::vector<double> number = parse_numbers(asked, setting("batch"));
  if (number.size() != 1 || !(number[0] >= 1) || number[0] != std::floor(number[0])) {
    throw Error(ErrorKind::usage,
                fmt::format("{} = {}; expected auto or a whole number from 1 on", setting("batch"), asked));
  }
  return {1, fmt::format("{} were asked for; {}: result, time and memory are those of one", asked, because)};
}

void check_options(const RunOptions& options, Run& run) {
  if (options.output.empty()) {
    throw Error(ErrorKind::usage, setting("output") + " is missing")
        .hint("name the folder of the stems, " + setting("output", "out"));
  }
  options.check_second();
  if (options.precision == Precision::tf32 && run.device().is_cpu()) {
    throw Error(ErrorKind::not_supported,
                fmt::format("{} = tf32: the CPU does not compute in it; expected auto, f32, f16 or bf16",
                            setting("precision")));
  }
}

/// The networks of a run, and what is held of them at one time.
struct Planned {
  RunStage first;
  std::optional<RunStage> second{};
  bool both_at_once = false;
  std::size_t peak_bytes = 0, peak_bytes_of_gpu = 0;
  double disk_bytes = 0;

  [[nodiscard]] RunStage& last() { return second ? *second : first; }
};

/// Two networks that fit the memory together are prepared once for all songs; else each when its turn comes.
void choose_held(Planned& planned, Run& run) {
  const RunStage& first = planned.first;
  const auto gpu_bytes = [](const RunStage& stage) { return stage.gpu ? stage.gpu->memory.peak_bytes : 0; };
  planned.peak_bytes = first.memory.peak_bytes, planned.peak_bytes_of_gpu = gpu_bytes(first);
  if (!planned.second) return;
  const RunStage& second = *planned.second;
  const std::size_t both = std::max(first.memory.peak_bytes, first.memory.lasting_bytes + second.memory.peak_bytes);
  const std::size_t both_on_gpu = gpu_bytes(first) + gpu_bytes(second);
  const bool fit =
      both <= run.host_budget().available_bytes() && (!first.gpu || both_on_gpu <= run.budget().available_bytes());
  planned.both_at_once = fit && first.tasks.size() > 1;
  planned.peak_bytes = planned.both_at_once ? both : std::max(planned.peak_bytes, second.memory.peak_bytes);
  planned.peak_bytes_of_gpu =
      planned.both_at_once ? both_on_gpu : std::max(planned.peak_bytes_of_gpu, gpu_bytes(second));
  const auto text = [](std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); };
  const std::string because = first.tasks.size() == 1 ? "the second one is prepared when the first has done its work"
                              : fit ? fmt::format("{} is there", text(run.host_budget().available_bytes()))
                                    : fmt::format("both would take {}", text(both_on_gpu > 0 ? both_on_gpu : both));
  const std::string how = planned.both_at_once ? "both in memory" : "one in memory at a time";
  run.report().add_choice("networks", how, because);
  run.say(fmt::format("networks    {}, {} at most: {}", how, text(planned.peak_bytes), because));
  run.results()["run"]["memory"]["planned_peak"] = planned.peak_bytes;
}

/// What is kept of a file is there while the stems of the one before are written, and with a second network while that
/// works; stems that are replaced, until then.
double bytes_on_disk(const Planned& planned) {
  const Work& first = planned.first.work;
  const auto files = static_cast<double>(std::min<std::size_t>(2, planned.first.tasks.size()));
  double bytes = first.stem_bytes + first.replaced_bytes + (planned.second ? 1 : files) * first.kept_bytes;
  if (planned.second) {
    const Work& second = planned.second->work;
    bytes += second.stem_bytes + second.replaced_bytes + second.kept_bytes;
  }
  return bytes;
}

/// Opens everything, makes every choice and says it. Networks must not move afterwards.
void plan(Planned& planned, const RunOptions& options, Run& run) {
  RunTasks tasks =
      options.tasks(planned.first.config, planned.first.settings, planned.second ? &planned.second->config : nullptr);
  planned.first.tasks = std::move(tasks.songs);
  if (planned.second) planned.second->tasks = std::move(tasks.stems);
  RunStage& last = planned.last();
  if (options.midi) (void)midi_beside(last.tasks.front().outputs, last.tasks.front().paths);
  run.report().add_choice("batch", choose_batch(options.batch, run.device()));
  const auto each = [&planned](const auto& body) {
    body(planned.first);
    if (planned.second) of_second_network([&] { body(*planned.second); });
  };
  each([&](RunStage& stage) {
    stage.work = say_work(stage.tasks, stage.settings, stage.config, stage.results(run), run);
  });
  run.results()["disk_bytes"] = planned.disk_bytes = bytes_on_disk(planned);
  each([&](RunStage& stage) {
    const bool finds = options.midi && &stage == &last;
    plan_network(stage, options, finds ? stem_midi_bytes(stage.work.longest_s) : 0, run);
  });
  choose_held(planned, run);
}

void say_times(Planned& planned, Run& run) {
  if (planned.first.gpu) return;
  const auto time_of = [&run](const RunStage& stage) {
    return say_time(stage.work, stage.config, stage.algorithms.methods, stage.results(run), run);
  };
  const std::optional<double> first = time_of(planned.first);
  if (!planned.second) return;
  const std::optional<double> second = time_of(*planned.second);
  if (!first || !second) return;
  run.say(fmt::format("times       {} in all", format_seconds(*first + *second)));
  run.results()["run"]["expected_of_both_s"] = *first + *second;
}

/// The files of the first network, and where there is a second one, song by song.
void separate_all(Planned& planned, const RunOptions& options, WorkingStage& first, WorkingStage* second, Run& run) {
  const auto report = [&](RunStage& stage, const SeparationTask& task, const SeparationResult& result) {
    report_file(task, result, stage.config, stage.results(run), run);
    if (options.midi && &stage == &planned.last()) write_stem_midi(midi_beside(task.outputs, task.paths), run);
  };
  if (second == nullptr) {
    first.separate(
        planned.first.tasks, planned.first.settings,
        [&](const SeparationTask& task, const SeparationResult& result) { report(planned.first, task, result); });
    return;
  }
  const auto stage = [&planned](RunStage& of, WorkingStage& at_work) {
    return Stage{of.config, of.settings,
                 [&](const SeparationTask& task, const SeparationSettings& settings,
                     const std::function<void(const SeparationResult&)>& finished) {
                   at_work.separate({task}, settings,
                                    [&](const SeparationTask&, const SeparationResult& result) { finished(result); });
                   if (!planned.both_at_once) at_work.release();
                 }};
  };
  const Stage of_songs = stage(planned.first, first), of_stems = stage(*planned.second, *second);
  for (std::size_t i = 0; i < planned.first.tasks.size(); ++i) {
    const SeparationTask &song = planned.first.tasks[i], &stem = planned.second->tasks[i];
    separate_in_stages(of_songs, of_stems, song, stem, [&](std::size_t which, const SeparationResult& result) {
      which == 0 ? report(planned.first, song, result) : report(*planned.second, stem, result);
    });
  }
}

void run_separation(const RunOptions& options, Run& run) {
  check_options(options, run);
  const Stopwatch watch;
  const sonde::Value memory_at_start = memory_now();
  auto reading = run.report().phase("read");
  Planned planned{.first = open_stage(options, false, run)};
  if (options.has_second()) {
    run.say(fmt::format("then        {}: separates {}", options.second.files.checkpoint, options.second_stem));
    planned.second.emplace(of_second_network([&] { return open_stage(options, true, run); }));
    // Until its turn comes.
    if (planned.second->model.checkpoint) planned.second->model.checkpoint->file->release_pages();
  }
  plan(planned, options, run);
  reading.end();
  if (run.dry_run()) return say_times(planned, run);

  require_room_on_disk(options.output, planned.disk_bytes);
  const bool second_is_larger = planned.second && planned.second->memory.peak_bytes > planned.first.memory.peak_bytes;
  const std::string what = second_is_larger ? "the second network" : "the network";
  const std::string remedy = "lower " + setting(second_is_larger ? "then_chunk" : "chunk");
  const Reservation reserved = run.host_budget().reserve(planned.peak_bytes, what, remedy);
  const Reservation reserved_there =
      planned.first.gpu ? run.budget().reserve(planned.peak_bytes_of_gpu, what, remedy) : Reservation();
  MadeFolders folders;
  make_places(planned.first.tasks, options.midi && !planned.second, folders);
  if (planned.second) make_places(planned.second->tasks, options.midi, folders);

  WatchedStems watched(planned.first.config);
  const auto shown = run.live([&] {
    const std::lock_guard lock(watched.mutex);
    LiveState state;
    state.panels["stems"] = watched.growth.options();
    return state;
  });
  WatchedStems* const whom = run.live_port() ? &watched : nullptr;
  WorkingStage first(planned.first, options, watch, whom, run);
  std::optional<WorkingStage> second;
  if (planned.second) second.emplace(*planned.second, options, watch, whom, run);
  try {
    separate_all(planned, options, first, second ? &*second : nullptr, run);
  } catch (Error& error) {
    const bool ended = error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated;
    const bool is_any_complete = run.results().find("inputs") != nullptr;
    if (ended && (is_any_complete || can_resume(planned.first.tasks) || can_resume(planned.last().tasks))) {
      error.hint("the same command with " + setting("resume") + " continues");
    }
    throw;
  }
  run.results()["run"]["memory"]["at_start"] = memory_at_start;
  first.report();
  if (second) second->report();
}

}  // namespace

Verb run_verb() {
  return {
      .name = "separate run",
      .summary = "Separate audio files into stems with a trained network",
      .details =
          "Reads a checkpoint of an MDX23C (TFC-TDF v3) network as it is (see `sonde separate info`) and audio files "
          "of any length, and writes one file for each stem, as long as the input, at the network's sample rate. "
          "The file is read, separated and written in pieces: memory does not depend on its length. Results are the "
          "same bits for every number of threads.\n\nThe network sees chunks; with an overlap of N each sample is the "
          "mean of N of them. More overlap is smoother and takes N times as long. `fade` is the way of "
          "Music-Source-Separation-Training, `uniform` that of Ultimate Vocal Remover.\n\nA sum of stems is an output "
          "of its own: `cymbals=ride+crash`, and `drumless=mixture-drums` what is left of the file without a stem. "
          "What is beyond -1 to 1 is kept in floating point and clipped, with a count, in other formats.\n\n"
          "`then` names a second network, which separates a stem of the first in the same run, as the drums of a song "
          "into a drum kit. Its files are named as if the stem were the file that is separated, in the folder of the "
          "stem: `out/song/drums.wav` and `out/song/drums/kick.wav`. They are the same bits as of two runs with a file "
          "of float32 between them.",
      .examples = {{"sonde separate run drums.wav --checkpoint DrumSep.ckpt -o out",
                    "Every stem of a drum track in out/drums/"},
                   {"sonde separate run song.mp3 --checkpoint vocals.ckpt -o out --mix instrumental=mixture-vocals "
                    "--format flac",
                    "The vocals, and the song without them"},
                   {"sonde separate run song.wav --checkpoint m.ckpt -o out --start 0:30 --seconds 10 --overlap 1",
                    "A quick look at ten seconds"},
                   {"sonde separate run song.mp3 --checkpoint song.ckpt --then DrumSep.ckpt --midi -o out",
                    "The stems of a song, the kit of its drums, and a MIDI file"},
                   {"sonde separate run song.wav --checkpoint m.ckpt -o out --overlap 8 --preview",
                    "Stems after an eighth of the time, which become better until the end"}},
      .plans = true,
      .watched = Watched{.panels = StemGrowth::panels()},
      .invoke = invocation<RunOptions, run_separation>};
}

}  // namespace sonde::separate
