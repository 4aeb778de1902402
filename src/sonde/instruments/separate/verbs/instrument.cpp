// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/instrument.h"

#include "sonde/instruments/separate/bench/cases.h"
#include "sonde/instruments/separate/verbs/demonstrate.h"
#include "sonde/instruments/separate/verbs/verbs.h"
#include "sonde/instruments/separate/view/stems_page.h"

namespace sonde::separate {
namespace {

// In the order of the overview.
std::vector<Verb> verbs() {
  return {run_verb(),  midi_verb(), info_verb(),     convert_verb(), ensemble_verb(),
          eval_verb(), plot_verb(), simulate_verb(), demo_verb()};
}

}  // namespace

extern const Instrument instrument;
const Instrument instrument{
    .name = "separate",
    .verbs = verbs,
    .bench_cases = [](ShowPage) { return sonde::separate::bench_cases(); },
    .demonstrate = demonstrate,
    .check_demo_folder = check_demo_folder,
    .folder_page = [](const std::string& folder, Run& run) { return stems_page(folder, run.host_budget()); }};

}  // namespace sonde::separate
