// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/instruments/stem/pass/grid.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// A source that has read the scheduled frames once and serves them from memory from now on: the compressed layout.
[[nodiscard]] std::unique_ptr<Source> hold_in_memory(std::unique_ptr<Source> source, const Schedule& schedule);

}  // namespace sonde::stem
