// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/commands.h"
#include "sonde/engine/bench/machine.h"

namespace sonde::cli {
namespace {

struct MachineCommandOptions {
  bool refresh = false;
  double seconds = 0.5;
  Bytes array{std::size_t{256} << 20};
  Bytes file{std::size_t{512} << 20};
  std::string folder;
  void describe(Fields& fields) {
    fields.add("refresh", refresh,
               {.help = "measure again although numbers of this machine are cached", .flag_only = true});
    fields.add("seconds", seconds, {.help = "time for each number", .unit = "s", .min = 0.001, .max = 60});
    fields.add("array", array, {.help = "size of each of the three arrays in memory", .min = 65536});
    fields.add("file", file, {.help = "size of the file on the disk", .min = 65536});
    fields.add("folder", folder, {.help = "where the disk is measured; empty takes the folder of temporary files"});
  }
};

void run_machine(const MachineCommandOptions& options, Run& run) {
  std::optional<Value> machine;
  if (!options.refresh) machine = cached_machine();
  const bool cached = machine.has_value();
  bool kept = false;
  if (!cached) {
    auto phase = run.report().phase("measure");
    machine = measure_machine({.seconds_each = options.seconds,
                               .array_bytes = options.array.value,
                               .file_bytes = options.file.value,
                               .folder = options.folder});
    phase.end();
    kept = keep_machine(*machine);
  }
  run.report().add_choice("numbers", cached ? "cached" : "measured",
                          cached ? "--refresh measures again"
                          : kept ? "kept in " + machine_cache_path()
                                 : "not kept: the cache cannot be written");
  run.results() = *machine;
  run.say(machine_text(*machine));
  if (cached || kept) run.say((cached ? "cached in " : "kept in ") + machine_cache_path());
}

}  // namespace

Verb machine_command() {
  return {
      .name = "machine",
      .summary = "Measure the limits of this machine, once",
      .details =
          "Bandwidths of memory, disk and GPU links, the multiply-add peak and the rate of Fourier transforms on one\n"
          "thread. Reports and benchmarks give their rates as fractions of these numbers, which are kept in the "
          "user's\n"
          "cache folder ($XDG_CACHE_HOME) and hold only for this machine. Memory counts bytes read plus bytes\n"
          "written; each number is the fastest of several runs. Let the machine rest meanwhile.",
      .examples = {{"sonde machine", "Show the numbers, measure them when they are not there"},
                   {"sonde machine --refresh --folder /data", "Measure again, with the disk below /data"}},
      .invoke = invocation<MachineCommandOptions, run_machine>};
}

}  // namespace sonde::cli
