// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sonde/engine/ranks/ranks.h"

namespace sonde {

/// What one rank does before it asks for more: numbers that the caller understands.
using Piece = std::vector<std::int64_t>;

/// What rank 0 does for all while they work. Called only there, by one thread at a time. What it throws counts like
/// an error of the work.
struct Desk {
  std::function<Piece(int rank)> next;  ///< what `rank` is to do now; empty when nothing is left
  std::function<void(int rank, std::span<const std::byte> found)> receive;
};

/// Sends what was found to the desk. To be called by one thread at a time, from any thread, until the work returns.
/// What it throws is to leave the work.
using Deliver = std::function<void(std::span<const std::byte> found)>;

/// All ranks work on pieces that rank 0 gives to whoever is free, until none is left. Rank 0 works too: a thread that
/// sleeps between messages answers the others meanwhile, so no rank may talk through Ranks before this returns. Returns
/// true when all is done. An error of any rank ends the work of all at their next delivery: it is thrown on rank 0, and
/// the others return false. When rank 0 was asked to stop, that is thrown at once, and the program is expected to end
/// all ranks.
[[nodiscard]] bool hand_out(const Ranks& ranks, const Desk& desk,
                            const std::function<void(const Piece& piece, const Deliver& deliver)>& work);

/// Runs `body` on every rank. True when none has thrown; else rank 0 throws the error of the lowest that has, and the
/// others return false. `body` must not talk through Ranks.
[[nodiscard]] bool all_succeed(const Ranks& ranks, const std::function<void()>& body);

}  // namespace sonde
