// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>

#include "sonde/engine/base/run_files.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/ptycho/results/export.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

struct ExportOptions {
  std::string input, output;
  ExportFormat to = ExportFormat::tiff;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a result of `sonde ptycho run`"});
    fields.choice("to", to,
                  {{"cxi", ExportFormat::cxi},
                   {"ptyr", ExportFormat::ptyr},
                   {"tiff", ExportFormat::tiff},
                   {"png", ExportFormat::png},
                   {"npy", ExportFormat::npy}},
                  {.help = "format: cxi and ptyr hold everything in one file, tiff and png phase and amplitude of the "
                           "field of view (of several slices tiff also each as a page), npy the arrays"});
    fields.add("output", output,
               {.help = "file of cxi and ptyr; what the names begin with otherwise; empty: the input's name",
                .metavar = "FILE|PREFIX",
                .letter = 'o'});
  }
};

void run_export(const ExportOptions& options, Run& run) {
  run.require_named_output();
  std::string output = options.output;
  if (output.empty()) {
    note_made_up_names();
    output = std::filesystem::path(options.input).replace_extension().string();
    if (options.to == ExportFormat::cxi) output += ".cxi";
    if (options.to == ExportFormat::ptyr) output += ".ptyr";
  }
  for (const std::string& file : export_names(options.to, output)) require_place(file);
  run.require_room_for(options.input);
  for (const std::string& file : export_result(read_result(options.input), options.to, output)) {
    run.results()["files"].push_back(file);
    run.say("wrote     " + file);
  }
}

}  // namespace

Verb export_verb() {
  return {.name = "ptycho export",
          .summary = "Write a reconstruction for other programs",
          .examples = {{"sonde ptycho export result.h5 --to tiff", "Phase and amplitude with their pixel size"},
                       {"sonde ptycho export result.h5 --to cxi -o result.cxi", "Everything in one CXI file"}},
          .invoke = invocation<ExportOptions, run_export>};
}

}  // namespace sonde::ptycho
