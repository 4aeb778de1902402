// SPDX-License-Identifier: Apache-2.0
// Private to the room: the batches of a pass, read ahead by a thread of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sonde/engine/io/feed.h"
#include "sonde/instruments/stem/pass/content_hash.h"
#include "sonde/instruments/stem/pass/grid.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// A batch and how long reading it took.
struct TimedBatch {
  std::vector<RawBatch> reads;  ///< those of the plan, and buffers of earlier batches
  const Batch* plan = nullptr;
  double read_s = 0;

  /// The read that has a frame of the batch.
  [[nodiscard]] const RawBatch& holding(Index frame) const {
    const auto& ranges = plan->reads;
    const auto range = std::partition_point(ranges.begin(), ranges.end(),
                                            [frame](const FrameRange& each) { return each.last <= frame; });
    return reads[static_cast<std::size_t>(range - ranges.begin())];
  }
};

/// Reads every batch of the schedule once, in order, at most `ring_buffers` ahead. Source and schedule must outlive it.
class BatchFeed {
 public:
  static constexpr std::size_t ring_buffers = 3;  // one being decoded, one ready, one being read

  /// Without `identify` there is no content hash, and its time is saved.
  BatchFeed(Source& source, const Schedule& schedule, bool identify = true);

  /// Empty after the last batch. Throws what the source throws.
  [[nodiscard]] Feed<TimedBatch>::Lease next() { return feed_->next(); }
  /// After the last batch: XXH3 of the sizes and bytes of all frames read, in stored order.
  [[nodiscard]] std::uint64_t content_hash() const { return hash_.value(); }

 private:
  ContentHash hash_;
  std::size_t next_batch_ = 0;
  std::unique_ptr<Feed<TimedBatch>> feed_;  // last: its thread uses the others
};

}  // namespace sonde::stem
