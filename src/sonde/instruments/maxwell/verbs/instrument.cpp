// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/instrument.h"

#include "sonde/instruments/maxwell/bench/cases.h"
#include "sonde/instruments/maxwell/results/arrange.h"
#include "sonde/instruments/maxwell/verbs/demonstrate.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

// In the order of the overview.
std::vector<Verb> verbs() {
  return {run_verb(),  gradient_verb(), born_verb(),    fwi_verb(),
          init_verb(), plot_verb(),     convert_verb(), verify_verb()};
}

}  // namespace

extern const Instrument instrument;
const Instrument instrument{.name = "maxwell",
                            .verbs = verbs,
                            .bench_cases = [](ShowPage) { return sonde::maxwell::bench_cases(); },
                            .demonstrate = demonstrate,
                            .arrange = arrange};

}  // namespace sonde::maxwell
