// SPDX-License-Identifier: Apache-2.0
// Private to the room: batches of frames that come by themselves, collected on a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sonde/engine/io/feed.h"
#include "sonde/instruments/stem/pass/arrivals.h"
#include "sonde/instruments/stem/pass/batch_feed.h"
#include "sonde/instruments/stem/pass/content_hash.h"
#include "sonde/instruments/stem/pass/grid.h"

namespace sonde::stem {

/// Frames that came together, without those that came before or belong nowhere.
struct ArrivedBatch {
  TimedBatch frames;
  Batch plan;                    // of `frames`
  std::vector<Index> positions;  // ascending; may be none
};

class ArrivalFeed {
 public:
  /// Throws Error(not_supported) where several frames are one position. `arrivals` must outlive it.
  ArrivalFeed(Arrivals& arrivals, const ScanGrid& scan);

  /// Empty after the last. Throws what the arrivals throw.
  [[nodiscard]] Feed<ArrivedBatch>::Lease next() { return feed_->next(); }

  // After the last batch.
  /// Positions for which no frame came, ascending.
  [[nodiscard]] std::vector<Index> missing() const;
  [[nodiscard]] ArrivalCounts counts() const;
  [[nodiscard]] std::uint64_t content_hash() const { return hash_.value(); }

 private:
  bool is_new(Index frame);
  void keep_new(ArrivedBatch& batch);

  std::vector<Index> position_of_;   // (stored frame); -1: none
  std::vector<std::uint8_t> there_;  // (position)
  ArrivalCounts counts_;
  ContentHash hash_;
  std::unique_ptr<Feed<ArrivedBatch>> feed_;  // last: its thread uses the others
};

}  // namespace sonde::stem
