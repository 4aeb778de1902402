// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/instrument.h"

#include "sonde/instruments/ptycho/bench/cases.h"
#include "sonde/instruments/ptycho/results/arrange.h"
#include "sonde/instruments/ptycho/verbs/demonstrate.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

// In the order of the overview.
std::vector<Verb> verbs() {
  return {run_verb(),    resume_verb(),  direct_verb(),   init_verb(),   report_verb(),  sweep_verb(),
          export_verb(), compare_verb(), diagnose_verb(), orient_verb(), simulate_verb()};
}

}  // namespace

extern const Instrument instrument;
const Instrument instrument{.name = "ptycho",
                            .verbs = verbs,
                            .bench_cases = ptycho::bench_cases,
                            .demonstrate = demonstrate,
                            .arrange = arrange};

}  // namespace sonde::ptycho
