// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// How many reconstructions of one measurement work at the same time: one for each thread, as far as the memory goes.
/// A small one keeps a thread busy but not several. `most`: what a person asked for; 0: nothing. `bytes_of(n)` is what
/// n at the same time need in all. A pure function of its arguments, at least 1 and at most `tries`.
[[nodiscard]] Choice<Index> choose_at_once(Index tries, Index threads, Index most, std::size_t host_bytes,
                                           const std::function<std::size_t(Index)>& bytes_of);

/// Calls work(0) ... work(count - 1), `at_once` of them at the same time: each on a thread of parallel_for(), whose
/// loops inside use what threads are left. The last few, when they are fewer, have more threads each. What one finds
/// must not depend on the others; their progress is not reported. After an exception no other one begins, those that
/// work go on to their end, and the first exception reaches the caller.
void side_by_side(Index count, Index at_once, const std::function<void(Index)>& work);

}  // namespace sonde::ptycho
