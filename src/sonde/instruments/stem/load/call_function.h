// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// A function of the user's own that all workers call at the same time. `patterns` are (count, rows, cols) of the type
/// that it is given for, a copy of its own; `positions` are count numbers scan row * scan columns + scan column;
/// `values`, (count, values per pattern), are NaN until it writes them. Anything but 0 that it returns ends the pass.
using PatternFunction = int (*)(void* patterns, const std::int64_t* positions, std::int64_t count, std::int64_t rows,
                                std::int64_t cols, double* values);

/// Calls it with every pattern of a data set, some at a time and in no order that is promised, while they are in the
/// cache: each position once, zeros where it has no frame. `patterns`: u8, u16, u32 or f32. Returns (scan row, scan
/// col, value) f64. Throws what a pass throws, and Error(bad_input) when no value is asked for, when not all elements
/// of the data set have a place in `patterns`, and naming the positions for which the function failed.
[[nodiscard]] Array call_function(const Dataset& dataset, PatternFunction function, DType patterns, Index values);

}  // namespace sonde::stem
