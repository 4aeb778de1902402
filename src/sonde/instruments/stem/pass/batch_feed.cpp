// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/batch_feed.h"

#include <xxhash.h>

#include <utility>
#include <vector>

#include "sonde/engine/base/clock.h"

namespace sonde::stem {

/// Identity of what was read: sizes and bytes of every frame, in stored order.
class BatchFeed::ContentHash {
 public:
  ContentHash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;
  ~ContentHash() { XXH3_freeState(state_); }
  void add(const RawBatch& batch) {
    for (std::size_t i = 0; i < batch.pieces.size(); ++i) {
      const auto bytes = batch.frame_bytes(batch.first + static_cast<Index>(i));
      const std::uint64_t size = bytes.size();
      XXH3_64bits_update(state_, &size, sizeof size);
      XXH3_64bits_update(state_, bytes.data(), bytes.size());
    }
  }
  [[nodiscard]] std::uint64_t value() const { return XXH3_64bits_digest(state_); }

 private:
  XXH3_state_t* state_;
};

BatchFeed::BatchFeed(Source& source, const Schedule& schedule, bool identify)
    : hash_(std::make_unique<ContentHash>()),
      feed_(std::make_unique<Feed<TimedBatch>>(std::vector<TimedBatch>(ring_buffers),
                                               [this, &source, &schedule, identify](TimedBatch& batch) {
                                                 if (next_batch_ == schedule.batches.size()) return false;
                                                 const Stopwatch reading;
                                                 batch.plan = &schedule.batches[next_batch_++];
                                                 const std::vector<FrameRange>& ranges = batch.plan->reads;
                                                 if (batch.reads.size() < ranges.size())
                                                   batch.reads.resize(ranges.size());
                                                 for (std::size_t i = 0; i < ranges.size(); ++i) {
                                                   source.read(ranges[i].first, ranges[i].last, batch.reads[i]);
                                                   if (identify) hash_->add(batch.reads[i]);
                                                 }
                                                 batch.read_s = reading.seconds();
                                                 return true;
                                               })) {}

BatchFeed::~BatchFeed() = default;

std::uint64_t BatchFeed::content_hash() const { return hash_->value(); }

}  // namespace sonde::stem
