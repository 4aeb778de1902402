// SPDX-License-Identifier: Apache-2.0

#include "sonde/instruments/ptycho/run/resume.h"
#include "sonde/instruments/ptycho/verbs/reconstruct.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

struct ResumeOptions {
  std::string checkpoint, output;
  std::vector<std::string> set;
  void describe(Fields& fields) {
    fields.positional("checkpoint", checkpoint, {.help = "what a run with output.checkpoint_every left (.ckpt.h5)"});
    fields.add("output", output,
               {.help = "the result file; in place of that of the run", .metavar = "FILE.h5", .letter = 'o'});
    fields.add("set", set,
               {.help = "one setting of the run that is another from now on, for instance engine.0.iterations=400",
                .metavar = "TABLE.KEY=VALUE"});
  }
};

void run_resume(const ResumeOptions& options, Run& run) {
  const CheckpointReader checkpoint(options.checkpoint, checkpoint_kind());
  RunFile run_file;
  settings_of(checkpoint, options.set, run_file);
  if (!options.output.empty()) run_file.output.file = options.output;
  reconstruct(run_file, &checkpoint, run);
}

}  // namespace

Verb resume_verb() {
  return {
      .name = "ptycho resume",
      .summary = "Continue a reconstruction from its checkpoint",
      .details =
          "The checkpoint holds the settings and everything the next iteration depends on: on the same kind of "
          "processor the result has the same bits as without the break. The measurement is read again from where "
          "it was. What counts from the next iteration on may be another: engines that still work, constraints, stop "
          "rules, output. A setting that the checkpoint has fixed, as probe.modes, is refused.",
      .examples = {{"sonde ptycho resume result.ckpt.h5", "To the end of the run"},
                   {"sonde ptycho resume result.ckpt.h5 --set engine.0.iterations=400 -o longer.h5", "And beyond it"}},
      .plans = true,
      .watched = Watched{.own_page = true},
      .ranks = true,
      .invoke = invocation<ResumeOptions, run_resume>};
}

}  // namespace sonde::ptycho
