// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/batch_feed.h"

#include <utility>
#include <vector>

#include "sonde/engine/base/clock.h"

namespace sonde::stem {

BatchFeed::BatchFeed(Source& source, const Schedule& schedule, bool identify)
    : feed_(std::make_unique<Feed<TimedBatch>>(std::vector<TimedBatch>(ring_buffers),
                                               [this, &source, &schedule, identify](TimedBatch& batch) {
                                                 if (next_batch_ == schedule.batches.size()) return false;
                                                 const Stopwatch reading;
                                                 batch.plan = &schedule.batches[next_batch_++];
                                                 const std::vector<FrameRange>& ranges = batch.plan->reads;
                                                 if (batch.reads.size() < ranges.size())
                                                   batch.reads.resize(ranges.size());
                                                 for (std::size_t i = 0; i < ranges.size(); ++i) {
                                                   source.read(ranges[i].first, ranges[i].last, batch.reads[i]);
                                                   if (identify) hash_.add(batch.reads[i]);
                                                 }
                                                 batch.read_s = reading.seconds();
                                                 return true;
                                               })) {}

}  // namespace sonde::stem
