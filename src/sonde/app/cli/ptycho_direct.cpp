// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/ptycho_direct.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "sonde/app/cli/ptycho_reconstruct.h"
#include "sonde/app/cli/ptycho_source.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/text.h"

namespace sonde::cli {
namespace {

const char* name_of(ptycho::DirectMethod method) { return method == ptycho::DirectMethod::ssb ? "ssb" : "parallax"; }

void say_plan(const ptycho::Source& source, const ptycho::DirectPlan& plan, const Context& context) {
  const ptycho::Sampling& sampling = plan.scan.sampling;
  say_source(source, context);
  context.say(fmt::format("raster    {} x {} positions, {:.4g} and {:.4g} A apart", plan.lattice.rows,
                          plan.lattice.cols, std::hypot(plan.lattice.down.row, plan.lattice.down.col),
                          std::hypot(plan.lattice.across.row, plan.lattice.across.col)));
  context.say(fmt::format("disk      {} pixels within {:.4g} mrad, wavelength {:.5g} A", plan.images,
                          1000 * plan.lens.semiangle, sampling.wavelength));
  context.say("memory\n" + plan.memory.text());
}

void tell(const ptycho::DirectOutcome& outcome, const ptycho::DirectPlan& plan, Context& context) {
  for (const std::string& note : outcome.notes) context.say("note      " + note);
  for (const std::string& warning : outcome.warnings) log_warning(warning);
  Value& results = context.results()["direct"];
  results = outcome.result.diagnostics;
  results["images"] = plan.images;
  const auto number = [&](const char* key) { return results.find(key)->as_real(); };
  if (outcome.image.fit)
    context.say(fmt::format(
        "lens      C10 {:.4g} A, C12 {:.3g} A at {:.3g} deg, scan rotation {:.4g} deg; the images agree "
        "{:.3g} times as well as noise",
        number("C10_A"), number("C12_A"), number("phi12_deg"), number("rotation_deg"), number("agreement")));
}

}  // namespace

std::optional<ptycho::DirectOutcome> reconstruct_directly(const ptycho::RunFile& run, ptycho::DirectMethod method,
                                                          Context& context) {
  const ptycho::Source source = open_measurement(run.data, context);
  ptycho::DirectPlan plan = plan_direct(run, source, method);
  say_plan(source, plan, context);
  context.report().add_choice("direct memory", Value(plan.memory.peak_bytes),
                              fmt::format("{} of bright-field images beside the patterns, a tenth of head-room on top",
                                          format_bytes(static_cast<double>(plan.memory.lasting_bytes))));
  const Reservation reserved = context.host_budget().reserve(
      plan.memory.needed_bytes(), fmt::format("direct reconstruction ({})", name_of(method)),
      "raise --memory, or keep fewer detector pixels with --set data.crop=N");
  if (context.dry_run()) return std::nullopt;
  auto phase = context.report().phase(name_of(method));
  ptycho::DirectOutcome outcome = run_direct(run, source, plan);
  phase.end();
  tell(outcome, plan, context);
  return outcome;
}

void begin_directly(ptycho::RunFile& run, Context& context) {
  const std::optional<ptycho::DirectMethod> method = direct_start(run);
  if (!method) return;
  (void)run.schedule();
  require_outputs(run);
  const std::string start =
      std::filesystem::absolute(std::filesystem::path(run.output.file).replace_extension("").string() + "_start.h5")
          .lexically_normal()
          .string();
  require_output(start, run);
  prefer_right_strengths(run);
  const std::optional<ptycho::DirectOutcome> outcome = reconstruct_directly(run, *method, context);
  if (!outcome) return;
  write_result(start, outcome->result);
  context.say("wrote     " + start);
  context.results()["files"].push_back(start);
  start_from(*outcome, start, run);
}

}  // namespace sonde::cli
