// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>

#include "sonde/app/cli/commands.h"
#include "sonde/instruments/ptycho/results/export.h"

namespace sonde::cli {
namespace {

struct ExportOptions {
  std::string input, output;
  ptycho::ExportFormat to = ptycho::ExportFormat::tiff;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a result of `sonde ptycho run`"});
    fields.choice("to", to,
                  {{"cxi", ptycho::ExportFormat::cxi},
                   {"ptyr", ptycho::ExportFormat::ptyr},
                   {"tiff", ptycho::ExportFormat::tiff},
                   {"png", ptycho::ExportFormat::png},
                   {"npy", ptycho::ExportFormat::npy}},
                  {.help = "format: cxi and ptyr hold everything in one file, tiff and png phase and amplitude of the "
                           "field of view (of several slices tiff also each as a page), npy the arrays"});
    fields.add("output", output,
               {.help = "file of cxi and ptyr; what the names begin with otherwise; empty: the input's name",
                .metavar = "FILE|PREFIX",
                .letter = 'o'});
  }
};

void run_export(const ExportOptions& options, Context& context) {
  std::string output = options.output;
  if (output.empty()) {
    output = std::filesystem::path(options.input).replace_extension().string();
    if (options.to == ptycho::ExportFormat::cxi) output += ".cxi";
    if (options.to == ptycho::ExportFormat::ptyr) output += ".ptyr";
  }
  for (const std::string& file : export_result(ptycho::read_result(options.input), options.to, output)) {
    context.results()["files"].push_back(file);
    context.say("wrote     " + file);
  }
}

}  // namespace

Command ptycho_export_command() {
  return {.name = "ptycho export",
          .summary = "Write a reconstruction for other programs",
          .examples = {{"sonde ptycho export result.h5 --to tiff", "Phase and amplitude with their pixel size"},
                       {"sonde ptycho export result.h5 --to cxi -o result.cxi", "Everything in one CXI file"}},
          .invoke = invocation<ExportOptions, run_export>};
}

}  // namespace sonde::cli
