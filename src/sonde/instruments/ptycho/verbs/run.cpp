// SPDX-License-Identifier: Apache-2.0

#include "sonde/engine/base/error.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/ptycho/run/direct_job.h"
#include "sonde/instruments/ptycho/run/reference.h"
#include "sonde/instruments/ptycho/verbs/direct_start.h"
#include "sonde/instruments/ptycho/verbs/reconstruct.h"
#include "sonde/instruments/ptycho/verbs/resolve_settings.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

struct RunOptions {
  std::string input;
  std::vector<std::string> set;
  RunFile described;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "run file (.toml), or the patterns, with " + setting("config") +
                               " RUN.toml unless the file says all of itself",
                       .array = true});
    described.tables().lend(fields, {{"output.file", "output", 'o'},
                                     {"compute.precision"},
                                     {"data.storage"},
                                     {"output.log"},
                                     {"compute.deterministic"},
                                     {"data.skip_empty"},
                                     {"data.clip_negative"}});
    fields.add(
        "set", set,
        {.help = "one setting of the run file, for instance engine.0.iterations=200", .metavar = "TABLE.KEY=VALUE"});
  }
};

void run_run(const RunOptions& options, Run& run) {
  RunFile run_file;
  resolve_settings(options.input, options.set, BareInput::describes_itself, run, run_file);
  if (Ranks::world().size() > 1 && direct_start(run_file))
    throw Error(ErrorKind::not_supported, "a one-shot reconstruction cannot begin a run of several processes")
        .hint("`sonde ptycho direct -o start.h5` first, then object.init = \"file\" with object.file");
  if (run.gives_arrays() && !run_file.tables().is_set("output.file")) run_file.output.write_nothing();
  begin_directly(run_file, run);
  reconstruct(run_file, nullptr, run);
}

}  // namespace

Verb run_verb() {
  return {.name = "ptycho run",
          .summary = "Reconstruct object and probe from diffraction patterns",
          .details =
              "A run file (TOML) says where the patterns are, how they were taken, and which engines work on them: "
              "`sonde ptycho init` writes one with every key explained. What is planned is printed before anything is "
              "allocated.\n\n"
              "The result is one HDF5 file with object, probe, positions, metrics of every iteration and all settings, "
              "beside pictures of phase and amplitude and a page that judges them (RESULT_report.html). A run that "
              "diverges or is interrupted writes its best state "
              "first.",
          .examples = {{"sonde ptycho run recon.toml -o result.h5", "A reconstruction from a run file"},
                       {"sonde ptycho run scan_master.h5 --config recon.toml --set engine.0.iterations=200",
                        "The same settings for another measurement, with more iterations"},
                       {"sonde ptycho run recon.toml --set output.checkpoint_every=20",
                        "A checkpoint every 20 iterations, from which `sonde ptycho resume` continues"},
                       {"sonde ptycho run recon.toml --live 8000", "Watch it in the browser, pause it, end it early"},
                       {"sonde ptycho run scan.h5 -o result.h5",
                        "A file that says all of itself (`sonde ptycho simulate`, CXI, PtyD), with the engine gd"},
                       {"sonde ptycho run scan_master.h5 -o result.h5 --set geometry.semiangle_mrad=21 --set "
                        "probe.defocus_A=150",
                        "A 4D-STEM file with what it does not say, with the engine gd"},
                       {"sonde ptycho run recon.toml --dry-run", "Memory, overlap and time, without any work"}},
          .pages = {{"ptycho-run-file", "The run file with all its keys", run_file_reference}},
          .own_config = true,
          .tables = [] { return RunFile().tables().outline(); },
          .plans = true,
          .watched = Watched{.own_page = true},
          .ranks = true,
          .invoke = invocation<RunOptions, run_run>};
}

}  // namespace sonde::ptycho
