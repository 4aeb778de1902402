// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/engine/report/progress.h"
#include "sonde/engine/run/join_ranks.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

struct VerifyOptions {
  bool full = false;
  std::vector<std::string> only;
  void describe(Fields& fields) {
    fields.add(
        "full", full,
        {.help = "every case at the sizes that the limits were derived for: minutes, and 1 GB; otherwise seconds"});
    fields.add("only", only, {.help = "a check by its name, several times for several", .metavar = "CHECK"});
  }
};

/// Those asked for; all when none are, of several processes the one that is theirs. Throws Error(usage) naming what
/// there is.
std::vector<VerifyCheck> chosen(const VerifyOptions& options, const Ranks& ranks) {
  const auto all = verify_checks();
  const bool several = ranks.size() > 1;
  std::vector<VerifyCheck> made;
  if (options.only.empty())
    std::ranges::copy_if(all, std::back_inserter(made),
                         [&](const VerifyCheck& each) { return !several || each.id == check_of_ranks; });
  for (const std::string& id : options.only) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const VerifyCheck& each) { return each.id == id; });
    if (found == all.end()) {
      std::vector<std::string> ids;
      for (const VerifyCheck& each : all) ids.emplace_back(each.id);
      throw Error(ErrorKind::usage, setting("only", id) + fmt::format(": expected {}", join_words(ids, ", ")));
    }
    if (several && id != check_of_ranks)
      throw Error(ErrorKind::usage, fmt::format("{}: a check of one process, {} were started", id, ranks.size()))
          .hint("several processes make the check " + std::string(check_of_ranks));
    made.push_back(*found);
  }
  return made;
}

Value value_of(const VerifyRow& row) {
  Value made = Value::object();
  made["id"] = row.id;
  made["what"] = row.what;
  made["value"] = row.value;
  made["limit"] = row.limit;
  made["at_least"] = row.at_least;
  made["pass"] = row.passes();
  return made;
}

void run_verify(const VerifyOptions& options, Run& run) {
  const Ranks ranks = join_ranks(run, "they make one check together");
  (void)run.device_for("the checks run on the CPU");
  std::vector<VerifyCheck> checks;
  if (!all_succeed(ranks, [&] { checks = chosen(options, ranks); })) return;
  for (const VerifyCheck& check : checks)
    run.report().add_choice(std::string(check.id), Value(std::string(check.what)), "");
  MemoryPlan memory;
  // What the largest check holds, measured: its fields, its medium and the factors of both.
  memory.peak_bytes = memory.add("largest check", options.full ? std::size_t{1000} << 20U : std::size_t{200} << 20U,
                                 options.full ? "full size" : "quick");
  if (run.dry_run()) run.show_memory(memory, run.host_budget());
  const Reservation reserved =
      run.host_budget().reserve(memory.needed_bytes(), "the checks", "raise " + setting("memory"));
  if (run.dry_run()) return;
  run.keep_results_of_failure();
  run.results()["rows"] = Value::list();
  ProgressMeter progress("verifying", static_cast<Index>(checks.size()), "checks");
  Index failed = 0;
  for (const VerifyCheck& check : checks) {
    check_interrupt();
    const auto phase = run.report().phase(std::string(check.id));
    for (const VerifyRow& row : check.rows(options.full ? VerifySize::full : VerifySize::quick)) {
      run.say(fmt::format("{:<9} {:<34} {:>10.3g}  {} {:<8.3g}  {}", row.passes() ? "pass" : "FAILED", row.id,
                          row.value, row.at_least ? "at least" : "at most ", row.limit, row.what));
      run.results()["rows"].push_back(value_of(row));
      if (!row.passes()) ++failed;
    }
    progress.advance();
  }
  const auto all = static_cast<Index>(run.results()["rows"].size());
  if (failed > 0 && !run.silent())
    throw Error(ErrorKind::not_converged, fmt::format("{} of {} rows are outside of their limits", failed, all));
  run.say(fmt::format("verified  {} rows, each within its limit", all));
}

}  // namespace

Verb verify_verb() {
  return {
      .name = "maxwell verify",
      .summary = "Compare waves and their derivatives with closed forms on this machine",
      .details =
          "Line sources and dipoles against Hankel functions and closed forms, layered media against Fresnel's "
          "coefficients, water against its permittivity, what absorbing layers reflect, conserved energy and "
          "reciprocity. Derivatives against their transpose, central differences and Taylor series; gradients from "
          "compressed fields; equal bits from memory, disk and recomputed fields, and with several threads; grids that "
          "are chosen for an accuracy against the velocity of waves on them. Started by `mpirun`, its processes make "
          "the check " +
          std::string(check_of_ranks) +
          ": shots and grids that they share, against one process. A row outside of its limit ends with status 7.",
      .examples = {{"sonde maxwell verify", "All checks on small grids"},
                   {"mpirun -n 4 sonde maxwell verify", "Shots and grids shared by four processes"},
                   {"sonde maxwell verify --full --only line_source --only dipole", "Two of them at full size"}},
      .plans = true,
      .watched = Watched{},
      .ranks = true,
      .invoke = invocation<VerifyOptions, run_verify>};
}

}  // namespace sonde::maxwell
