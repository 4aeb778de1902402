// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// The frames of a data set for one thread that works on some of them at a time, while a pass on threads of its own
/// decodes and cleans the next ones: for functions that must not run on several threads, or not on those of sonde.
///
///   FrameQueue queue(dataset, 128);
///   while (auto block = queue.next()) use(block->frames, block->positions);
///
/// Every position comes once, as the data set holds it (zeros where it has no frame), in no order that is promised.
/// Once so many blocks wait, decoding stops after the batch of stored frames that it is at. Nothing else reads frames
/// of the data set meanwhile: calls that need to (pattern() of the layouts without elements, another queue) wait until
/// this one ends, so its user must not make them. Destroying the queue in the middle ends the pass.
class FrameQueue {
 public:
  struct Block {
    Array frames;                  ///< (n, rows, cols) of Dataset::dtype(), host memory
    std::vector<Index> positions;  ///< n of them, each scan row * scan columns + scan column
  };
  static constexpr Index least_frames = 16;  ///< of a block: what the pass hands over at a time

  /// `frames`: in a block, at least 16; the last blocks have fewer. Decoding stops while `blocks` wait.
  FrameQueue(const Dataset& dataset, Index frames, std::size_t blocks = 4);
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;
  ~FrameQueue();

  /// The next block, or none after the last. Throws what the pass throws, and what check_interrupt() throws on this
  /// thread while it waits.
  [[nodiscard]] std::optional<Block> next();

 private:
  class HandOver;
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace sonde::stem
