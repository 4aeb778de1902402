// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/visit_frames.h"

#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/dataset_state.h"

namespace sonde::stem {

bool visit_frames(const Dataset& dataset, const std::string& stage, std::span<Operation* const> operations,
                  std::optional<std::vector<Index>> some) {
  if (dataset.released()) throw Error(ErrorKind::bad_input, "the data set was released").hint("load it again");
  const Dataset::State& state = dataset.state();
  PassSettings settings = state.settings;
  if (some) settings = only_at(std::move(settings), std::move(*some));
  settings.stage = stage;
  settings.sum_stored = false;
  const std::lock_guard lock(state.reading);
  return run_pass(*state.source, settings, operations).by_events;
}

}  // namespace sonde::stem
