// SPDX-License-Identifier: Apache-2.0
// For tests: frames that come in an order of the test's.
#pragma once

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/pass/arrivals.h"

namespace sonde::stem::testing {

/// The frames of a source (a MemorySource) whose numbers are listed, `together` at a time.
class ListedArrivals final : public Arrivals {
 public:
  ListedArrivals(Source& source, std::vector<Index> order, std::size_t together)
      : source_(source), order_(std::move(order)), together_(together) {}

  bool spoil_repetitions = false;
  int fails_after = -1;  ///< calls; -1: never

  bool next(std::vector<RawBatch>& frames) override {
    if (fails_after >= 0 && fails_after-- == 0) throw Error(ErrorKind::io, "the stream broke");
    frames.resize(std::min(together_, order_.size() - at_));
    for (RawBatch& frame : frames) {
      const Index number = order_[at_++];
      const bool stored = number >= 0 && number < source_.acquisition().frames;
      source_.read(stored ? number : 0, stored ? number + 1 : 1, frame);
      frame.first = number;
      if (!seen_.insert(number).second && spoil_repetitions)
        std::fill(frame.bytes.begin(), frame.bytes.end(), std::byte{7});
    }
    return !frames.empty();
  }

 private:
  Source& source_;
  std::vector<Index> order_;
  std::size_t together_, at_ = 0;
  std::set<Index> seen_;
};

}  // namespace sonde::stem::testing
