// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// Reversal of a run of which only some states fit in memory, by the binomial schedule of Griewank and Walther (ACM
/// Trans. Math. Softw. 26 (2000) 19, Algorithm 799), which runs the fewest blocks forwards.

/// Of `blocks` blocks, at least 2, whose first state is saved: how many are run forwards before the next state is saved
/// while `free` more states can be, at least 1.
[[nodiscard]] Index blocks_to_next_state(Index blocks, Index free);

/// How many blocks are run forwards in all when `states` states can be saved, at least 1, the first one of the run
/// among them: the run itself and what is repeated.
[[nodiscard]] Index blocks_run_forwards(Index blocks, Index states);

}  // namespace sonde::maxwell
