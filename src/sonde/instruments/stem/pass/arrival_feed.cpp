// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/arrival_feed.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"

namespace sonde::stem {

ArrivalFeed::ArrivalFeed(Arrivals& arrivals, const ScanGrid& scan)
    : position_of_(static_cast<std::size_t>(scan.stored_frames), -1),
      there_(static_cast<std::size_t>(scan.positions())) {
  if (scan.bin > 1)
    throw Error(ErrorKind::not_supported,
                "frames that arrive cannot be summed over scan positions: any of them may come last")
        .hint("leave the scan bin at 1");
  std::vector<Index> frames;
  for (Index position = 0; position < scan.positions(); ++position) {
    scan.frames_of(position, frames);
    for (const Index frame : frames) position_of_[static_cast<std::size_t>(frame)] = position;
  }
  feed_ = std::make_unique<Feed<ArrivedBatch>>(std::vector<ArrivedBatch>(BatchFeed::ring_buffers),
                                               [this, &arrivals](ArrivedBatch& batch) {
                                                 const Stopwatch waiting;
                                                 if (!arrivals.next(batch.frames.reads)) return false;
                                                 keep_new(batch);
                                                 batch.frames.read_s = waiting.seconds();
                                                 return true;
                                               });
}

/// Whether a frame is the first of its position.
bool ArrivalFeed::is_new(Index frame) {
  const Index position =
      frame >= 0 && frame < std::ssize(position_of_) ? position_of_[static_cast<std::size_t>(frame)] : -1;
  if (position < 0) {
    ++counts_.outside;
    return false;
  }
  if (std::exchange(there_[static_cast<std::size_t>(position)], std::uint8_t{1}) != 0) {
    ++counts_.repeated;
    return false;
  }
  ++counts_.taken;
  return true;
}

/// New frames come first, ascending; the others stay behind them as buffers.
void ArrivalFeed::keep_new(ArrivedBatch& batch) {
  std::vector<RawBatch>& reads = batch.frames.reads;
  auto kept = reads.begin();
  for (RawBatch& read : reads) {
    hash_.add(read);
    if (is_new(read.first)) std::swap(*kept++, read);
  }
  std::sort(reads.begin(), kept, [](const RawBatch& a, const RawBatch& b) { return a.first < b.first; });

  batch.plan = {};
  batch.positions.clear();
  for (auto read = reads.begin(); read != kept; ++read) {
    batch.plan.reads.push_back({read->first, read->first + 1});
    batch.plan.bytes += read->piece(read->first).size;
    batch.positions.push_back(position_of_[static_cast<std::size_t>(read->first)]);
  }
  std::sort(batch.positions.begin(), batch.positions.end());
  batch.frames.plan = &batch.plan;
}

std::vector<Index> ArrivalFeed::missing() const {
  std::vector<Index> positions;
  for (std::size_t position = 0; position < there_.size(); ++position)
    if (there_[position] == 0) positions.push_back(static_cast<Index>(position));
  return positions;
}

ArrivalCounts ArrivalFeed::counts() const {
  ArrivalCounts counts = counts_;
  counts.missing = missing().size();
  return counts;
}

}  // namespace sonde::stem
