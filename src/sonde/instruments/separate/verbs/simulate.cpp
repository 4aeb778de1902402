// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/instruments/separate/verbs/loop_files.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

struct SimulateOptions {
  std::string output;
  Index seed = 1;
  LoopSettings loop;
  void describe(Fields& fields) {
    fields.add("output", output, {.help = "folder of the stems", .metavar = "DIR", .letter = 'o'});
    fields.add("seed", seed, {.help = "another seed, another performance", .min = 0});
    fields.add("seconds", loop.pattern.seconds, {.help = "length of the loop", .unit = "s", .min = 0.5, .max = 3600});
    fields.add("tempo", loop.pattern.tempo, {.help = "quarters per minute", .min = 30, .max = 300});
    fields.add("timing", loop.pattern.timing_ms,
               {.help = "how far hits are off the beat, one standard deviation", .unit = "ms", .min = 0, .max = 50});
    fields.add("rate", loop.rate, {.help = "sample rate", .unit = "Hz", .min = 8000, .max = 192000});
    fields.add("backing", loop.backing, {.help = "a stem with bass, chords and a melody too"});
  }
};

void run_simulate(const SimulateOptions& options, Run& run) {
  if (options.output.empty())
    throw Error(ErrorKind::usage, setting("output") + " is missing")
        .hint("name the folder of the stems, " + setting("output", "loop"));
  LoopSettings settings = options.loop;
  settings.pattern.seed = static_cast<std::uint64_t>(options.seed);
  const std::size_t bytes = loop_bytes(settings);
  if (run.dry_run()) {
    MemoryPlan memory;
    memory.peak_bytes = memory.lasting_bytes = memory.add("stems", bytes, "all of them, and those being rendered");
    return run.show_memory(memory, run.host_budget());
  }
  const Reservation reserved = run.host_budget().reserve(bytes, "the stems", "lower " + setting("seconds"));
  make_folders(options.output);
  auto rendering = run.report().phase("render");
  const DrumLoop loop = simulate_loop(settings);
  rendering.end();
  const auto writing = run.report().phase("write");
  write_stems(options.output, loop.stems, settings.rate, run);
  write_stems(options.output, {loop.mixture}, settings.rate, run);
  write_hits(options.output, loop.hits, settings.pattern.tempo, run);
  run.results()["hits"] = loop.hits.size();
}

}  // namespace

Verb simulate_verb() {
  return {
      .name = "separate simulate",
      .summary = "Render a drum loop with its true stems and events",
      .details =
          "Kick, snare, toms, hihat and cymbals of a beat with fills, human timing and accents, each made of what "
          "makes the sound of a drum: a sine whose pitch falls, damped modes, noise of wires and inharmonic partials "
          "of metal. The folder gets a WAV file (float) for each stem, `mixture.wav`, which is their sum, and the "
          "hits as events.csv and events.mid: `sonde separate run`, `midi` and `eval` can be tried where the truth is "
          "known.\n\nThe same settings give the same samples, bit for bit, on every machine.",
      .examples = {{"sonde separate simulate -o loop", "Ten seconds, 44.1 kHz"},
                   {"sonde separate simulate -o loop --seed 7 --tempo 138 --seconds 30 --backing",
                    "Another drummer, faster, with music"}},
      .plans = true,
      .invoke = invocation<SimulateOptions, run_simulate>};
}

}  // namespace sonde::separate
