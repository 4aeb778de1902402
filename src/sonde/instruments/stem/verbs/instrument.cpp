// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/instrument.h"

#include "sonde/instruments/stem/bench/cases.h"
#include "sonde/instruments/stem/lattice/strain_page.h"
#include "sonde/instruments/stem/orient/orient_page.h"
#include "sonde/instruments/stem/phase/phase_page.h"
#include "sonde/instruments/stem/phase/stored_centres.h"
#include "sonde/instruments/stem/radial/radial_page.h"
#include "sonde/instruments/stem/verbs/demonstrate.h"
#include "sonde/instruments/stem/verbs/verbs.h"
#include "sonde/instruments/stem/verbs/viewing.h"

namespace sonde::stem {
namespace {

// In the order of the overview.
std::vector<Verb> verbs() {
  return {info_verb(),      validate_verb(), load_verb(),   image_verb(),   com_verb(),      phase_verb(),
          calibrate_verb(), radial_verb(),   bragg_verb(),  strain_verb(),  cepstrum_verb(), crystal_verb(),
          orient_verb(),    count_verb(),    events_verb(), convert_verb(), simulate_verb()};
}

std::vector<panel::ResultPanel> arrange(const panel::StoredResult& result) {
  if (holds_centres(result)) return arrange_phase(result);
  if (result.schema().starts_with("sonde.stem.radial/")) return arrange_radial(result);
  if (result.schema().starts_with("sonde.stem.strain/")) return arrange_strain(result);
  if (result.schema().starts_with("sonde.stem.orientation/")) return arrange_orientation(result);
  return {};
}

panel::ResultAdjustment adjustment(const panel::StoredResult& result) {
  return holds_centres(result) ? adjustment_of_phase(result) : panel::ResultAdjustment{};
}

}  // namespace

extern const Instrument instrument;
const Instrument instrument{.name = "stem",
                            .verbs = verbs,
                            .bench_cases = [](ShowPage) { return sonde::stem::bench_cases(); },
                            .demonstrate = demonstrate,
                            .viewing = viewing,
                            .arrange = arrange,
                            .adjustment = adjustment};

}  // namespace sonde::stem
