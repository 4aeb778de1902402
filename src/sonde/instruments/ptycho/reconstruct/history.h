// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho {

/// Records as a table of f64, (iterations, columns), and back: what checkpoints keep. Numbers that are not there are
/// not-a-number.
[[nodiscard]] Array table_of(const std::vector<IterationRecord>& history);
/// Throws Error(bad_file) for another number of columns.
[[nodiscard]] std::vector<IterationRecord> history_of(const Array& table);

}  // namespace sonde::ptycho
