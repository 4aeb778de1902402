// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/dose/strain_sensitivity.h"
#include "sonde/instruments/stem/lattice/strain_picture.h"
#include "sonde/instruments/stem/lattice/strain_result.h"
#include "sonde/instruments/stem/spectra/cepstral_strain.h"
#include "sonde/instruments/stem/verbs/analysis_page.h"
#include "sonde/instruments/stem/verbs/command_of.h"
#include "sonde/instruments/stem/verbs/scan_disks.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

/// What the lattice of a pattern is found with.
enum class StrainMethod { disks, cepstrum };

constexpr Index usual_sensitivity = 16;  // patterns: a few milliseconds

struct StrainCommandOptions {
  std::string input;
  std::string output, calibration, plot, html;
  StrainMethod method = StrainMethod::disks;
  std::optional<Index> sensitivity;
  StrainOptions strain;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "a scan, or the file of its Bragg disks that sonde stem bragg wrote", .array = true});
    fields.add("output", output,
               {.help = "write strain and lattice to this file", .metavar = "FILE.h5|.nc|.npz", .letter = 'o'});
    fields.add("plot", plot, {.help = "draw the maps of strain into this picture", .metavar = "FILE.png"});
    describe_calibration(calibration, fields);
    describe_page(html, fields);
    fields.choice("method", method, {{"disks", StrainMethod::disks}, {"cepstrum", StrainMethod::cepstrum}},
                  {.help = "disks: a fit to the Bragg disks of each pattern; cepstrum: peaks of its power cepstrum, a "
                           "check that needs the scan, but no disks"});
    strain.describe(fields);
    fields.add(
        "sensitivity", sensitivity,
        {.help = "patterns of the scan on which strain is found again with other kernels, halves of the disks and "
                 "other references; 0: none; unset: 16 of a scan, none of a file of disks",
         .min = 0,
         .max = 100'000,
         .metavar = "N"});
  }
};

/// Everything that can be refused before the disks are read.
void check(const StrainCommandOptions& options, Run& run) {
  if (options.plot.empty() && options.html.empty()) run.require_output(options.output);
  require_page(options.html);
  options.strain.check();
  if (!options.plot.empty()) (void)require_ending(options.plot, "pictures", {".png"});
  for (const std::string& file : {options.output, options.plot})
    if (!file.empty()) require_place(file);
  if (options.sensitivity.value_or(0) > 0 && !is_scan(options.input, run))
    throw Error(ErrorKind::usage,
                fmt::format("{}: {} has disks and no patterns; expected a scan", setting("sensitivity"), options.input))
        .hint("give the scan in place of its disks, or leave out " + setting("sensitivity"));
  if (options.sensitivity.value_or(0) > 0 && options.method != StrainMethod::disks)
    throw Error(ErrorKind::usage, setting("sensitivity") + " is of disks; expected " + setting("method", "disks"));
}

/// Says what strain depends on, where there are patterns to find it again.
std::optional<StrainSensitivity> report_sensitivity(const FoundDisks& found, const StrainResult& result,
                                                    const StrainCommandOptions& options, Run& run) {
  const Index patterns = options.sensitivity.value_or(usual_sensitivity);
  if (!found.dataset || patterns == 0) return std::nullopt;
  auto phase = run.report().phase("sensitivity");
  StrainSensitivity made =
      find_sensitivity(*found.dataset, found.probe, {}, options.strain, result, patterns, run.host_budget());
  phase.end();
  run.results()["sensitivity"] = made.to_value();
  for (const std::string& line : made.lines()) run.say(line);
  for (const std::string& warning : made.warnings) log_warning(warning);
  return made;
}

/// Strain, and the disks that it is of: none where it is of cepstra.
struct FoundStrain {
  StrainResult result;
  std::optional<FoundDisks> disks;
};

/// By the asked for method. Nothing on a dry run.
std::optional<FoundStrain> strain_of_input(const StrainCommandOptions& options, Run& run) {
  const std::array outputs{options.output, options.plot, options.html};
  const bool scan = is_scan(options.input, run);
  if (options.method == StrainMethod::cepstrum) {
    if (!scan)
      throw Error(ErrorKind::usage, options.input + ": a file of Bragg disks has no patterns, which a cepstrum is of")
          .hint("give the scan, or " + setting("method", "disks"));
    const std::optional<Dataset> dataset = patterns_of(options.input, options.calibration, outputs, run);
    if (!dataset) return std::nullopt;
    auto phase = run.report().phase("strain");
    return FoundStrain{make_cepstral_strain(*dataset, options.strain, run.host_budget()), std::nullopt};
  }
  if (run.dry_run() && scan) {
    plan_scan_disks(options.input, options.calibration, run);
    return std::nullopt;
  }
  FoundDisks disks = found_disks_of(options.input, options.calibration, outputs, run);
  if (run.dry_run()) return std::nullopt;
  auto phase = run.report().phase("strain");
  StrainResult result = make_strain(disks.vectors, options.strain, run.host_budget());
  return FoundStrain{std::move(result), std::move(disks)};
}

void run_strain(const StrainCommandOptions& options, Run& run) {
  check(options, run);
  const std::optional<FoundStrain> found = strain_of_input(options, run);
  if (!found) return;
  const StrainResult& result = found->result;
  run.results()["strain"] = result.to_value();
  for (const std::string& line : result.lines()) run.say(line);
  for (const std::string& warning : result.warnings) log_warning(warning);
  const auto sensitivity = found->disks ? report_sensitivity(*found->disks, result, options, run) : std::nullopt;
  const std::string command = command_of("stem strain", options, run, {"output", "plot", "html"});
  Contents contents = result.contents(command);
  if (sensitivity) contents.attribute("strain/sensitivity", to_json(sensitivity->to_value(), -1));
  run.give(std::move(contents), options.output);
  if (!options.output.empty()) run.say("wrote     " + options.output);
  if (!options.plot.empty()) {
    write_png(options.plot, strain_picture(result), command);
    run.say("wrote     " + options.plot);
  }
  if (!options.html.empty())
    write_page({.title = "Strain",
                .input = options.input,
                .figures = {picture_figure(strain_picture(result), "Strain and rotation of the crystal")},
                .lines = result.lines(),
                .warnings = result.warnings},
               options.html, command, run);
  if (!result.failed()) return;
  run.keep_results_of_failure();
  throw Error(ErrorKind::not_converged, fmt::format("{:.0f} % of the patterns have no lattice: {}",
                                                    100 * result.invalid_share(), result.warnings.front()));
}

}  // namespace

Verb strain_verb() {
  return {
      .name = "stem strain",
      .summary = "Map strain and rotation of a crystal, with their errors",
      .details =
          "The lattice of the scan is found in the map of all Bragg disks; that of each pattern is a weighted fit to "
          "its disks. With the reference lattice, the median of the scan unless another is given, it is the "
          "deformation of the crystal: strain e_xx, e_yy, e_xy, positive for tension, and theta, which turns the "
          "columns (x) towards the rows (y). Both are exact for large deformations. The scatter of the disks about "
          "each lattice gives the standard error of every value. The power cepstrum of each pattern gives the same "
          "maps (" +
          setting("method", "cepstrum") +
          "), with other mistakes: a check.\n\n"
          "Axes are those of the scan where the rotation of the detector is known (" +
          setting("rotation") +
          "), else those of the detector, which is reported and written to the file. Positions without a lattice are "
          "NaN; why is counted. Strain of 16 patterns of a scan is found again with other trenches and kernels, from "
          "halves of the disks and with other references; what changes it by more than the stated error is a "
          "warning. A scan with a lattice in less than a tenth of its patterns ends with status 7, its "
          "file written.",
      .examples = {{"sonde stem strain bragg.h5 -o strain.h5 --plot strain.png", "All maps and a picture"},
                   {"sonde stem strain scan_master.h5 --method cepstrum -o check.h5", "From cepstra, as a check"},
                   {"sonde stem strain bragg.h5 --reference-region 0,64,0,20 --rotation 12.5 -o strain.h5",
                    "The substrate as reference, along the axes of the scan"},
                   {"sonde stem strain bragg.h5 --measure reciprocal_first_order --weights intensity_squared "
                    "-o strain.npz",
                    "The numbers of py4DSTEM"}},
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<StrainCommandOptions, run_strain>};
}

}  // namespace sonde::stem
