// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// What a random order depends on: the run's seed, the iteration, and `use`, a small number that keeps several orders
/// of one iteration apart. Nothing else: the same on every machine, with any number of threads, after any restart.
struct ShuffleKey {
  std::uint64_t seed = 0;
  std::uint64_t iteration = 0;
  std::uint32_t use = 0;
};

/// Puts the elements into a random order, each of them equally likely (Fisher and Yates on Philox). Throws
/// Error(bad_input) for 2^32 elements and more.
void shuffle(std::span<Index> elements, const ShuffleKey& key);

}  // namespace sonde::ptycho
