// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sonde/engine/base/setting.h"
#include "sonde/instruments/ptycho/results/diagnosis.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

struct DiagnoseOptions {
  std::string result;
  std::optional<std::string> before;
  std::optional<double> semiangle_mrad;
  void describe(Fields& fields) {
    fields.positional("result", result, {.help = "a result of `sonde ptycho run`"});
    fields.add("before", before,
               {.help = "a result of the same scan to tell blurring by: without regularisation, or of fewer iterations",
                .metavar = "FILE.h5"});
    fields.add("semiangle_mrad", semiangle_mrad,
               {.help = "convergence semiangle, in place of the one that the run knew", .unit = "mrad", .min = 0.001});
  }
};

/// Dose, overlap and sampling: what the measurement itself allows.
void say_acquisition(const Acquisition& found, bool calibrated, const Run& run) {
  const char* unit = calibrated ? "A" : "px";
  run.say(found.counts_per_frame > 0
              ? fmt::format("dose         {:.4g} counts per frame, {:.3g} per detector pixel, {:.4g} per {}^2",
                            found.counts_per_frame, found.counts_per_pixel, found.dose, unit)
              : std::string("dose         not known: the values are not counts"));
  run.say(fmt::format("overlap      {:.0f} %: step {:.3g} {}, probe {:.3g} {} (99 % of its power)", 100 * found.overlap,
                      found.step, unit, found.probe_diameter, unit));
  run.say(fmt::format("sampling     object pixel {:.3g} {}; the patterns reach to details of {:.3g} {}", found.pixel,
                      unit, found.finest, unit));
  run.say(fmt::format("redundancy   {:.3g} measured numbers per unknown\n", found.redundancy));
}

void say_diagnoses(const std::vector<Diagnosis>& found, const Run& run) {
  run.say(fmt::format("{:<17} {:>10} {:>10}  verdict", "diagnosis", "value", "threshold"));
  for (const Diagnosis& each : found) {
    const bool known = each.verdict != Verdict::unknown;
    run.say(fmt::format("{:<17} {:>10} {:>10.4g}  {}", each.name, known ? fmt::format("{:.4g}", each.value) : "-",
                        each.threshold,
                        !known                             ? "unknown"
                        : each.verdict == Verdict::suspect ? "SUSPECT"
                                                           : "good"));
    if (each.verdict == Verdict::suspect)
      run.say(fmt::format("{:18}cause: {}\n{:18}try:   {}", "", each.cause, "", each.fix));
  }
}

void run_diagnose(const DiagnoseOptions& options, Run& run) {
  run.require_room_for(options.result);
  const Result result = read_result(options.result);
  std::optional<Result> before;
  if (options.before) before = read_result(*options.before);
  const std::optional<double> semiangle =
      options.semiangle_mrad ? std::optional(*options.semiangle_mrad / 1000) : std::nullopt;
  const std::vector<Diagnosis> found = diagnose(result, before ? &*before : nullptr, semiangle);
  const auto count = [&](Verdict verdict) {
    return std::count_if(found.begin(), found.end(), [&](const Diagnosis& each) { return each.verdict == verdict; });
  };
  Value& results = run.results();
  results["suspect"] = count(Verdict::suspect);
  results["unknown"] = count(Verdict::unknown);
  results["diagnoses"] = to_value(found);
  if (const std::optional<Acquisition> acquisition = acquisition_of(result)) {
    results["acquisition"] = acquisition->to_value();
    say_acquisition(*acquisition, result.sampling.calibrated(), run);
  }
  say_diagnoses(found, run);
  run.say(fmt::format("\n{} of {} are suspect, {} cannot be judged from what is known", count(Verdict::suspect),
                      found.size(), count(Verdict::unknown)));
}

}  // namespace

Verb diagnose_verb() {
  return {.name = "ptycho diagnose",
          .summary = "Look for the usual faults of a reconstruction, with causes and remedies",
          .details =
              "Each diagnosis has a value, a threshold beyond which it is suspect, what a suspect value usually comes "
              "from and what to try. A verdict is unknown when the result does not tell enough: blurring needs another "
              "result (" +
              setting("before") +
              "), whatever concerns the aperture a calibration and the semiangle.\n\n"
              "The exit status is 0 whatever the verdicts are; " +
              setting("json") + " has them for programs.",
          .examples = {{"sonde ptycho diagnose result.h5", "A table of values, thresholds and verdicts"},
                       {"sonde ptycho diagnose smooth.h5 --before plain.h5", "Whether a constraint blurs"},
                       {"sonde ptycho diagnose result.h5 --json", "The same for programs"}},
          .invoke = invocation<DiagnoseOptions, run_diagnose>};
}

}  // namespace sonde::ptycho
