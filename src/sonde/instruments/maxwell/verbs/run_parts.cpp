// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verbs/run_parts.h"

#include <fmt/format.h>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/io/output_ending.h"

namespace sonde::maxwell {
namespace {

void require_sampling(const RunPlan& plan, const PlannedModel& model) {
  if (plan.highest_frequency == 0 || plan.cells_per_wavelength >= plan.least_cells_per_wavelength) return;
  throw Error(
      ErrorKind::bad_input,
      fmt::format("{}: {:.3g} cells per wavelength at {:.4g} Hz; order {} needs at least {:g}", model.input,
                  plan.cells_per_wavelength, plan.highest_frequency, model.order, plan.least_cells_per_wavelength))
      .hint("take smaller cells, a lower frequency or a higher " + setting("order") + "; " + setting("force") +
            " runs it as it is");
}

}  // namespace

void report_plan(const RunPlan& plan, const PlannedModel& model, bool force, Run& run) {
  run.report().add_choice("grid", Value(model.grid), model.about_grid);
  run.report().add_choice("steps", Value(model.steps),
                          plan.ratio == 1 ? fmt::format("of {:.5g} s, the file's own", plan.dt)
                                          : fmt::format("{} for each of {:.5g} s: stencils of order {} need them",
                                                        plan.ratio, model.dt, model.order));
  if (!plan.parts.empty()) {
    run.report().add_choice("parts", Value(plan.parts), plan.about_parts);
    run.say("parts     " + plan.parts + ", " + plan.about_parts);
  }
  for (const std::string& warning : plan.warnings) log_warning(warning);
  if (plan.highest_frequency > 0) {
    run.report().add_choice(
        "cells per wavelength", Value(std::round(100 * plan.cells_per_wavelength) / 100),
        fmt::format(
            "at {:.4g} Hz, where the spectrum has fallen by 40 dB; phase velocity there {:+.2f} % along an axis, "
            "{:+.2f} % along the diagonal",
            plan.highest_frequency, 100 * (plan.velocity_along_axis - 1), 100 * (plan.velocity_along_diagonal - 1)));
    run.say(fmt::format("sampling  {:.3g} cells per wavelength at {:.4g} Hz, phase velocity {:+.2f} % along an axis",
                        plan.cells_per_wavelength, plan.highest_frequency, 100 * (plan.velocity_along_axis - 1)));
  }
  run.show_memory(plan.memory, run.host_budget());
  if (!run.device().is_cpu()) run.show_memory(plan.device_memory, run.budget(), "memory of the GPU");
  if (!force) require_sampling(plan, model);
}

TierBudgets budgets_of(const std::string& folder, const Ranks& ranks, Run& run) {
  TierBudgets made = TierBudgets::around(run.device(), run.budget(), folder);
  made.host = run.host_budget();
  share_disk(made, ranks);
  return made;
}

Reservation reserve_on_device(const RunPlan& plan, const std::string& input, Run& run, std::size_t but_for) {
  if (run.device().is_cpu()) return {};
  return run.budget().reserve(plan.device_memory.peak_bytes - but_for, "the run of " + input,
                              "raise " + setting("memory") + ", take larger cells, or " + setting("device", "cpu"));
}

void report_steps_together(const Operator& waves, Run& run) {
  const Index together = waves.steps_together();
  if (together == 0) return;
  run.report().add_choice("steps together", Value(together),
                          together > 1 ? "parts of the fields stay in the cache for so many steps"
                          : waves.problem().part
                              ? "parts of the grid exchange fields after each step"
                              : "something is looked at between steps, or threads or strips would have too little");
}

void simulate(Index cells, Index steps, Run& run, const std::function<void(ProgressMeter&)>& work) {
  auto phase = run.report().phase("simulate");
  ProgressMeter progress("simulating", steps, "steps");
  const Stopwatch watch;
  work(progress);
  const double rate = static_cast<double>(cells) * static_cast<double>(steps) / watch.seconds();
  run.results()["run"]["cell_updates_per_s"] = rate;
  run.say(fmt::format("times     {:.3g} s, {:.4g} million cells per second", watch.seconds(), rate / 1e6));
}

}  // namespace sonde::maxwell
