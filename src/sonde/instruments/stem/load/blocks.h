// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// What is given for values of floating-point files that are not finite: zero, as in everything that is computed, or
/// the values themselves. Bins sum up zeros in any case.
enum class NotFinite { zero, kept };

/// Resident scan rows [first, last) of a data set as (positions, rows, cols) of dtype() on the host, decoded again.
/// Throws what a load throws.
[[nodiscard]] Array read_rows(const Dataset& dataset, Index first, Index last, NotFinite not_finite = NotFinite::zero);

/// Calls body(frames, first position) for consecutive whole scan rows of a data set, in order: frames is (n, rows,
/// cols) of dtype(). A frame-major data set in host memory is passed in place, the others are decoded again (they hold
/// the same elements), block after block of at most about `block_bytes`, less where the budget leaves
/// less, at least one scan row. Throws what a load
/// throws.
void for_each_block(const Dataset& dataset, std::size_t block_bytes, NotFinite not_finite,
                    const std::function<void(const Array& frames, Index first_position)>& body);

}  // namespace sonde::stem
