// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho {

/// Records as a table of f64, (iterations, columns), and back: what checkpoints keep. Numbers that are not there are
/// not-a-number. The seconds are kept apart: equal runs have equal tables.
[[nodiscard]] Array table_of(const std::vector<IterationRecord>& history);
[[nodiscard]] Array seconds_of(const std::vector<IterationRecord>& history);
/// Throws Error(bad_file) for other shapes.
[[nodiscard]] std::vector<IterationRecord> history_of(const Array& table, const Array& seconds);

}  // namespace sonde::ptycho
