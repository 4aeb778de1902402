// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/verbs/direct_start.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/ptycho/verbs/open_measurement.h"
#include "sonde/instruments/ptycho/verbs/reconstruct.h"

namespace sonde::ptycho {
namespace {

const char* name_of(DirectMethod method) { return method == DirectMethod::ssb ? "ssb" : "parallax"; }

void say_plan(const Source& source, const DirectPlan& plan, const std::string& memory, Run& run) {
  const Sampling& sampling = plan.scan.sampling;
  say_source(source, run);
  run.say(fmt::format("raster    {} x {} positions, {:.4g} and {:.4g} A apart", plan.lattice.rows, plan.lattice.cols,
                      std::hypot(plan.lattice.down.row, plan.lattice.down.col),
                      std::hypot(plan.lattice.across.row, plan.lattice.across.col)));
  run.say(fmt::format("disk      {} pixels within {:.4g} mrad, wavelength {:.5g} A", plan.images,
                      1000 * plan.lens.semiangle, sampling.wavelength));
  run.show_memory(plan.memory, run.host_budget(), memory);
}

void tell(const DirectOutcome& outcome, const DirectPlan& plan, Run& run) {
  for (const std::string& note : outcome.notes) run.say("note      " + note);
  for (const std::string& warning : outcome.warnings) log_warning(warning);
  Value& results = run.results()["direct"];
  results = outcome.result.diagnostics;
  results["images"] = plan.images;
  const auto number = [&](const char* key) { return results.find(key)->as_real(); };
  if (outcome.image.fit)
    run.say(fmt::format(
        "lens      C10 {:.4g} A, C12 {:.3g} A at {:.3g} deg, scan rotation {:.4g} deg; the images agree "
        "{:.3g} times as well as noise",
        number("C10_A"), number("C12_A"), number("phi12_deg"), number("rotation_deg"), number("agreement")));
}

}  // namespace

std::optional<DirectOutcome> reconstruct_directly(const RunFile& run_file, DirectMethod method, Run& run,
                                                  const std::string& memory) {
  const Source source = open_measurement(run_file.data, run);
  DirectPlan plan = plan_direct(run_file, source, method);
  say_plan(source, plan, memory, run);
  const Reservation reserved = run.host_budget().reserve(
      plan.memory.needed_bytes(), fmt::format("direct reconstruction ({})", name_of(method)),
      "raise " + setting("memory") + ", or keep fewer detector pixels with " + setting("data.crop"));
  if (run.dry_run()) return std::nullopt;
  auto phase = run.report().phase(name_of(method));
  DirectOutcome outcome = run_direct(run_file, source, plan);
  phase.end();
  tell(outcome, plan, run);
  return outcome;
}

void begin_directly(RunFile& run_file, Run& run) {
  const std::optional<DirectMethod> method = direct_start(run_file);
  if (!method || run_file.output.file.empty()) return;  // reconstruct() begins without a file
  (void)run_file.schedule();
  run_file.output.require_places();
  const std::string start =
      absolute_path(std::filesystem::path(run_file.output.file).replace_extension("").string() + "_start.h5").string();
  const OutputRole role = side_output("the start of the reconstruction", FileMark::hdf5);
  require_place(start, role);
  prefer_right_strengths(run_file);
  const std::optional<DirectOutcome> outcome = reconstruct_directly(run_file, *method, run, "memory of the start");
  if (!outcome) return;
  write_result(start, outcome->result, role);
  run.say("wrote     " + start);
  run.results()["files"].push_back(start);
  start_from(*outcome, start, run_file);
}

}  // namespace sonde::ptycho
