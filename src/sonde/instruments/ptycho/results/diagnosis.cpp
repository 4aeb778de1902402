// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/diagnosis.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

/// The estimate with positions in pixels of the object.
State state_of(const Result& result) {
  State state;
  state.type = result.type;
  state.object = result.object.clone();
  if (!result.phase.empty()) state.phase = result.phase.clone();
  state.probe = result.probe.clone();
  state.positions = moved(result.positions, {-result.origin.row, -result.origin.col});
  state.placements = place_all(state.positions, state.window());
  return state;
}

}  // namespace

std::optional<Acquisition> acquisition_of(const Result& result) {
  const Value* noted = result.diagnostics.find("acquisition");
  return noted != nullptr ? Acquisition::from_value(*noted) : std::nullopt;
}

std::vector<Diagnosis> diagnose(const Result& result, const Result* earlier, std::optional<double> semiangle) {
  const State state = state_of(result);
  std::optional<State> before;
  if (earlier != nullptr) {
    before = state_of(*earlier);
    if (!(before->object.shape() == state.object.shape()))
      throw Error(ErrorKind::bad_input, fmt::format("an object of {} beside an earlier one of {}",
                                                    state.object.shape().text(), before->object.shape().text()));
  }
  Evidence evidence;
  evidence.state = &state;
  evidence.sampling = result.sampling;
  evidence.semiangle = semiangle.value_or(number_at(result.diagnostics, "semiangle_mrad") / 1000);
  evidence.acquisition = acquisition_of(result);
  evidence.initial_positions = result.initial_positions;
  const auto r = result.metrics.find("R_I");
  if (r != result.metrics.end()) evidence.r_intensity = r->second;
  evidence.r_floor = number_at(result.diagnostics, "R_I_floor");
  evidence.earlier = before ? &*before : nullptr;
  return diagnose(evidence);
}

}  // namespace sonde::ptycho
