// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/instrument.h"

#include "sonde/instruments/neoclassical/bench/cases.h"
#include "sonde/instruments/neoclassical/verbs/verbs.h"

namespace sonde::neoclassical {
namespace {

// In the order of the overview.
std::vector<Verb> verbs() {
  return {run_verb(),         scan_verb(),    database_verb(), boozer_verb(),
          convergence_verb(), profile_verb(), convert_verb(),  plot_verb()};
}

}  // namespace

extern const Instrument instrument;
const Instrument instrument{
    .name = "neoclassical", .verbs = verbs, .bench_cases = [](ShowPage) { return sonde::neoclassical::bench_cases(); }};

}  // namespace sonde::neoclassical
