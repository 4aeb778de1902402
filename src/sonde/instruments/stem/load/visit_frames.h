// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// Runs operations over every frame of a data set, cleaned as its load cleaned them: bad pixels, bins and "no data" are
/// those that its moments hold. Frames are decoded again from file or memory, whatever the layout, on all cores.
/// `stage` is what progress is called. With `some` only these scan positions, ascending, are decoded, and operations
/// know them by their place in it. Returns whether electrons were summed and no frame was made (PassResult::by_events).
/// Throws what run_pass throws, and Error(bad_input) after release().
bool visit_frames(const Dataset& dataset, const std::string& stage, std::span<Operation* const> operations,
                  std::optional<std::vector<Index>> some = {});

}  // namespace sonde::stem
